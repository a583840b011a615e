"""Entry point: parses the configuration text of a registration or an update."""

from sireference.configuration.assembly import assemble, name_of_partition
from sireference.configuration.defaults import default_configuration
from sireference.configuration.document import read_document
from sireference.configuration.fields import Report, top_field
from sireference.configuration.limit_rules import check_limits
from sireference.configuration.model import Configuration
from sireference.configuration.partitions import read_partitions
from sireference.configuration.placement_rules import check_placement_rules
from sireference.configuration.problems import ConfigurationError, ConfigurationProblem, quoted
from sireference.configuration.queue_rules import check_queues
from sireference.configuration.written import WrittenPartition


def parse_configuration(text: str) -> Configuration:
    """Read a queue configuration in YuniKorn's YAML.

    An empty or blank text is the built-in default, as in yunikorn-core. Any other text either is a
    usable configuration or raises ConfigurationError with every problem: YAML errors hide what
    follows them, but unknown keys, unreadable values and broken rules are reported together.
    """
    if not text.strip():
        return default_configuration()
    document, problems = read_document(text)
    if document is None:
        raise ConfigurationError(problems or (_NOTHING_IN_IT,))
    report = Report()
    for problem in problems:
        report.add(problem)
    partitions = read_partitions(top_field(document, report))
    _check_partition_names(partitions, report)
    for partition in partitions:
        check_queues(partition.root, report)
        check_limits(partition, report)
        check_placement_rules(partition, report)
    if report.problems:
        in_order = sorted(report.problems, key=lambda problem: (problem.line, problem.column))
        raise ConfigurationError(tuple(in_order))
    return assemble(partitions)


_NOTHING_IN_IT = ConfigurationProblem("", 1, 1, "the text is empty")


def _check_partition_names(partitions: tuple[WrittenPartition, ...], report: Report) -> None:
    seen: set[str] = set()
    for partition in partitions:
        name = name_of_partition(partition.name)
        if name.lower() in seen:
            report.refuse(f"{partition.path}.name", f"a second partition {quoted(name)}")
        seen.add(name.lower())
