"""Queue configuration: YuniKorn's YAML, read strictly into frozen records.

Two doors, so that the core can know the records without knowing YAML:

- `sireference.configuration.model` and `.defaults`: records, enums, the built-in default; pure.
- `sireference.configuration.parsing`: `parse_configuration(text)`; reads YAML.
"""
