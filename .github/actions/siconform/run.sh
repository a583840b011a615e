#!/usr/bin/env bash
# What the action does: runs the suite, which writes the job's summary; writes outputs, ends as the run ended.
set -uo pipefail

words=(run --results "$RESULTS")
[[ -z "${TARGET:-}" ]] || words+=(--target "$TARGET")
[[ -z "${TARGET_COMMAND:-}" ]] || words+=(--target-command "$TARGET_COMMAND")
[[ -z "${REVISION:-}" ]] || words+=(--revision "$REVISION")
[[ -z "${BASELINE:-}" ]] || words+=(--baseline "$BASELINE")
while IFS= read -r option; do
    [[ -z "$option" ]] || words+=("$option")
done <<<"${OPTIONS:-}"

began=$(mktemp)
"$SICONFORM" "${words[@]}"
code=$?

verdict=
if [[ "$RESULTS/results.json" -nt "$began" ]]; then # a run that tested nothing keeps earlier results
    verdict=$(sed -n 's/^ "verdict": "\(.*\)",$/\1/p' "$RESULTS/results.json")
fi
{
    echo "verdict=$verdict"
    echo "exit-code=$code"
} >>"$GITHUB_OUTPUT"
exit "$code"
