"""Who is to blame for failures: healthy nodes never are."""

from __future__ import annotations

from harness.cluster.blame import FAILURES, TRIES, Blame

NODES = ("a", "b", "c")


def test_a_node_is_to_blame_whose_units_others_do() -> None:
    blame = Blame()
    units = [str(number) for number in range(FAILURES)]
    for unit in units:
        blame.failed(unit, "a")
    guilty = [blame.done(unit, "b") for unit in units]
    assert guilty == [[]] * (FAILURES - 1) + [["a"]]


def test_units_that_fail_everywhere_blame_no_node() -> None:
    blame = Blame()
    for number in range(20):
        for node in NODES:
            blame.failed(f"poison {number}", node)
    assert blame.done("well", "b") == []
    assert blame.done("another", "a") == []


def test_a_node_that_does_anything_in_between_is_not_to_blame() -> None:
    blame = Blame()
    for number in range(4 * FAILURES):
        blame.failed(f"u{number}", "a")
        assert blame.done(f"u{number}", "b") == []
        if number % (FAILURES - 1) == 0:
            assert blame.done(f"v{number}", "a") == []


def test_a_unit_is_tried_elsewhere_first() -> None:
    blame = Blame()
    blame.failed("u", "a")
    assert not blame.fits("u", "a", NODES)
    assert blame.fits("u", "b", NODES)
    assert blame.fits("v", "a", NODES)
    assert blame.fits("u", "a", ("a",)), "there is nobody else"
    for node in ("b", "c"):
        blame.failed("u", node)
    assert blame.fits("u", "a", NODES)


def test_a_unit_is_to_blame_that_fails_on_all_nodes() -> None:
    blame = Blame()
    for node in NODES[:2]:
        blame.failed("u", node)
        assert not blame.hopeless("u", NODES)
    blame.failed("u", "c")
    assert blame.hopeless("u", NODES)


def test_on_one_node_a_unit_is_tried_several_times() -> None:
    blame = Blame()
    tries = []
    for _ in range(TRIES):
        blame.failed("u", "a")
        tries.append(blame.hopeless("u", ("a",)))
    assert tries == [False] * (TRIES - 1) + [True]


def test_of_many_nodes_those_count_that_have_done_something() -> None:
    many = [str(number) for number in range(100)]
    blame = Blame()
    for node in many[:50]:
        blame.failed("u", node)
    assert not blame.hopeless("u", many), "none of these has ever worked"
    for node in many[50 : 50 + TRIES]:
        blame.done(f"by {node}", node)
        assert not blame.hopeless("u", many)
        blame.failed("u", node)
    assert blame.hopeless("u", many)


def test_what_failed_with_its_node_blames_nobody() -> None:
    blame = Blame()
    for number in range(10):
        blame.failed("u", f"lost {number}")
        blame.gone(f"lost {number}")
    assert not blame.hopeless("u", ("a",))
    assert blame.fits("u", "a", NODES)
    assert blame.done("u", "a") == []


def test_a_node_that_fails_fast_waits_for_the_others() -> None:
    blame = Blame()
    for number in range(FAILURES):
        assert not blame.waits("a", NODES)
        blame.failed(str(number), "a")
    assert blame.waits("a", NODES)
    assert not blame.waits("b", NODES)
    assert not blame.waits("a", ("a",)), "there is nobody to wait for"
