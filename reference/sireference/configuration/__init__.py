"""Queue configuration: YuniKorn's YAML, read strictly into frozen records.

Two entry points, so that the core does not depend on YAML:

- `sireference.configuration.model` and `.defaults`: records, enums, the built-in default; pure.
- `sireference.configuration.parsing`: `parse_configuration(text)`; reads YAML.
"""
