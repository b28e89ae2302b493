"""What is so of a tracker of findings between any two calls."""

from harness.findings.entries import finding_id
from harness.findings.tracker import ON_ITS_WAY


def check_invariants(tracker):
    """Each finding has its own id, and what is known or counted has its finding."""
    buckets = {found.bucket for found in tracker._findings.values()}
    for identity, found in tracker._findings.items():
        place = (found.bucket, found.vocabulary)
        assert identity == found.id and identity in {
            finding_id(*place),
            finding_id(*place, found.input_b64),
        }
        assert found.replaces != identity
    for one in tracker._causes.values():
        assert buckets.issuperset(one.minimal.values()), "a known input whose finding is gone"
    assert buckets.issuperset(tracker._counts), "what is counted has no finding"
    certain = [one for one in tracker._findings.values() if one.unminimised != ON_ITS_WAY]
    assert all(tracker._counts[one.bucket] for one in certain)
