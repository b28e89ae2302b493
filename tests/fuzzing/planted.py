"""Loaders that are wrong in one way each, on every tenth mutant: the fuzzer must count them."""

import os

from tests.fuzzing.formats import Format, hold_whole, refused


def _digit(rng):
    return b"%d" % rng.randrange(10)


def _wrong_on_zero(fault):
    def use(path):
        # The mutants that warm a child up come before it has limits, and must do no harm.
        if path.read_bytes() == b"0" and not os.environ.get("TOKGATE_WARMING"):
            fault(path)
        return True

    return use


def _traceback(path):
    raise KeyError(path.name)


def _unclear(path):
    refused(ValueError(f"{path}:\nover two lines"), path)


def _broken(path):
    from dataclasses import replace

    from corpora.vocabularies.toys import TOYS

    hold_whole(replace(TOYS["toy_acbb"][1](), special_tokens={"<s>": -1}))


def _hang(path):
    while True:
        pass


def _memory(path):
    bytearray(2 << 30)


def _death(path):
    os.abort()


FORMATS = {
    name: Format(name, "x", _digit, _wrong_on_zero(fault))
    for name, fault in (
        ("traceback", _traceback),
        ("unclear", _unclear),
        ("broken", _broken),
        ("hang", _hang),
        ("memory", _memory),
        ("death", _death),
    )
}
