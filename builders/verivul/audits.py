"""What people are asked about VeriVul's programs: where the fault is, and whether it and its setting are real.

A label is what a model checker found; people see whether its finding is what a reviewer would call the fault.
"""

from schemas import Attribute, Audit, Show

_INPUTS = "array_to_string(list_transform(inputs, lambda input: input.type || ' ' || input.value), ', ')"

_FAULTS = f"""SELECT program_id AS item_id, language AS stratum, code, property, {_INPUTS} AS inputs,
        json_array({{{{'start': start, 'end': start + length(violating_statement), 'label': 'fault'}}}}) AS answer
    FROM (SELECT *, length(array_to_string(lines[:violating_line - 1], '')) + violating_line - 1
                + strpos(lines[violating_line], violating_statement) - 1 AS start
        FROM (SELECT *, string_split(code, chr(10)) AS lines FROM programs
            WHERE label = 'vulnerable' AND violating_line IS NOT NULL {{known}}))"""

FAULTS = Audit(
    "faults",
    "Run in the mind with these inputs, the program breaks the named property. Mark the whole statement that does it;"
    " of lost memory, the one that got it.",
    "spans",
    "programs",
    _FAULTS.format(known=""),
    (
        Show("code", title="Program"),
        Show("property", title="What is violated"),
        Show("inputs", title="Inputs, in order"),
    ),
    labels=("fault",),
    gold_sql=_FAULTS.format(known="AND replay = 'exact' AND replay_line = violating_line"),
    golds=5,
    unit="character",
    tolerance=0.5,
    max_error=0.1,
)
"""A program is right where people's marks and its violating line share half of their characters or more (F1). Known
are those in which gcc's sanitizers, run with the same inputs, name the line that the model checker names."""

REVIEW = Audit(
    "review",
    "The program, what the checker found, what its harness assumes, and the fix.",
    "rubric",
    "programs",
    f"""SELECT program_id AS item_id, language AS stratum, code, {_INPUTS} AS inputs, difference,
        p.property || ', line ' || violating_line || ': ' || violating_statement AS finding,
        array_to_string(assumptions, '; ') AS assumptions,
        '{{"reached": "yes", "assumptions": "plausible", "fixed": "yes"}}' AS answer
    FROM programs p JOIN pairs ON vulnerable_id = program_id""",
    (
        Show("code", title="Program"),
        Show("finding", title="What is violated"),
        Show("inputs", title="Inputs, in order"),
        Show("assumptions", title="Assumptions"),
        Show("difference", title="To its safe twin"),
    ),
    rubric=(
        Attribute("reached", "Do these inputs lead to this violation?", ("yes", "no", "cannot tell"), "nominal"),
        Attribute(
            "assumptions",
            "Would callers keep to what the harness assumes?",
            ("implausible", "doubtful", "plausible"),
            evidence=False,
        ),
        Attribute("fixed", "Does the difference take the fault away?", ("yes", "no", "cannot tell"), "nominal", False),
    ),
    max_error=0.1,
    severity="warn",
    needs=("pairs",),
)
"""`reached` is supported by the statements that the inputs run through."""

AUDITS = (FAULTS, REVIEW)
