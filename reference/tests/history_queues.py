"""The queues of random histories, and configurations that replace them."""

from typing import Final

from sireference.configuration.parsing import parse_configuration

QUEUES: Final = parse_configuration("""
partitions:
  - name: default
    queues:
      - name: root
        submitacl: "*"
        limits:
          - {users: [bob], maxresources: {memory: 7}}
          - {groups: [devs], maxresources: {memory: 8}, maxapplications: 2}
        queues:
          - {name: quota, resources: {max: {memory: 6}}}
          - name: few
            maxapplications: 1
            limits: [{users: ["*"], maxresources: {memory: 5}}]
            properties: {application.sort.policy: fair}
          - name: parent
            resources: {max: {memory: 9}}
            queues:
              - name: l
                resources: {guaranteed: {memory: 5}}
                properties: {preemption.delay: 1s}
              - name: r
                resources: {guaranteed: {memory: 3}}
                properties: {preemption.delay: 1s, application.sort.policy: stateaware}
  - name: other
    queues:
      - name: root
        submitacl: "*"
        properties: {application.sort.policy: stateaware}
        queues: [{name: quota}]
""")

OTHER_QUEUES: Final = (
    # smaller, and enforced; without the leaf few and the second partition; other policies
    parse_configuration("""
partitions:
  - name: default
    nodesortpolicy: {type: binpacking}
    preemption: {quotapreemptionenabled: true}
    queues:
      - name: root
        submitacl: "*"
        properties: {quota.preemption.delay: 2s}
        limits:
          - {users: ["*"], maxresources: {memory: 6}, maxapplications: 2}
        queues:
          - name: parent
            resources: {max: {memory: 5}}
            properties: {application.sort.policy: fair}
            queues: [{name: r}, {name: l}]
          - name: quota
            resources: {max: {memory: 3}}
            properties: {application.sort.policy: stateaware}
"""),
    # a leaf becomes a parent where possible; queues are created on demand
    parse_configuration("""
partitions:
  - name: default
    preemption: {enabled: false}
    placementrules: [{name: provided, create: true}]
    queues:
      - name: root
        submitacl: "*"
        queues:
          - name: few
            maxapplications: 1
            queues: [{name: leaf, maxapplications: 1}]
          - name: parent
            queues: [{name: l, resources: {guaranteed: {memory: 2}}}]
  - name: other
    queues: [{name: root, submitacl: "*"}]
"""),
    # almost nothing is left
    parse_configuration("partitions: [{name: other, queues: [{name: root}]}]"),
)
