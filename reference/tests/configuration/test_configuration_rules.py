"""Every rule on configurations: a document that breaks it has one problem, its counterpart none."""

from collections.abc import Callable

import pytest
from sireference.configuration.parsing import parse_configuration
from sireference.configuration.problems import ConfigurationError, ConfigurationProblem
from tests.configuration import limit_rules, placement_rules, queue_rules
from tests.configuration.placement_rules import IMPOSSIBLE, RULE, RULES_OF

RULES = {
    f"{module.__name__.rpartition('.')[2]}: {name}": case
    for module in (limit_rules, placement_rules, queue_rules)
    for name, case in module.RULES.items()
}


@pytest.mark.parametrize("case", RULES.values(), ids=RULES)
def test_broken_rule_is_one_problem_with_its_position(
    case: tuple[str, str, str, str, str], fill: Callable[[str, str], tuple[str, int, int]]
) -> None:
    text, bad, good, path, problem = case
    broken, line, column = fill(text, bad)

    with pytest.raises(ConfigurationError) as caught:
        parse_configuration(broken)

    assert caught.value.errors == (ConfigurationProblem(path, line, column, problem),)
    parse_configuration(fill(text, good)[0])


@pytest.mark.parametrize("expression", IMPOSSIBLE, ids=lambda expression: expression[:30])
def test_expression_without_linear_time_search_is_a_problem(expression: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        parse_configuration(
            f"{RULES_OF}      - {{name: user, filter: {{users: ['{expression}']}}}}\n"
        )

    (problem,) = refused.value.errors
    assert problem.path == f"{RULE}.filter.users[0]"
    assert problem.problem.endswith(f" is not a regular expression: {IMPOSSIBLE[expression]}")


@pytest.mark.parametrize("expression", [r"^\pL+$", "[[:alpha:]]+", r"a+\z", "(?i)a|b", "(?s:.*)"])
def test_expression_supported_by_go_is_accepted(expression: str) -> None:
    parse_configuration(f"{RULES_OF}      - {{name: user, filter: {{users: ['{expression}']}}}}\n")
