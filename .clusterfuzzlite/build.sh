#!/bin/bash -eu
# Puts into $OUT all that fuzzes: a Python, tokgate and its libraries, and the targets.
# SEED_CASES: how many cases of a campaign on each toy the seeds come from.

python=$(uv python find --no-project 3.12)
home=$(dirname "$(dirname "$(readlink -f "$python")")")
rm -rf "$OUT/python"
cp -a "$home" "$OUT/python"
uv pip install --python "$OUT/python/bin/python3" --break-system-packages "$SRC/tokgate[engines]"

# A campaign that has found something ends with another status than 0, and has a corpus all the same.
seeds="$WORK/seeds"
"$OUT/python/bin/python3" -c 'from harness.cli.application import main; main()' fuzz \
  --vocab toy_bytes --vocab toy_characters --vocab toy_unigram --vocab toy_wordpiece \
  --budget "${SEED_CASES:-2000}cases" --no-coverage --out "$WORK/campaign" --save-corpus "$seeds" ||
  test -d "$seeds"

"$OUT/python/bin/python3" -m harness.studies.guided.project "$OUT" --seeds "$seeds"
