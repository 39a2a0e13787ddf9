"""Audits: what people find when they look at a sample of a dataset's rows, as findings that the release gate reads.

A dataset declares its audits (`schemas.Audit`, in `CheckSet.audits`). The way of one:

* `plan.plan` draws the sample and writes the folder of the audit (`work.Work`), which is never released;
* `exchange.push` lays everyone's sheet on a Label Studio server, `exchange.pull` fetches the answers; or
  `files.from_file` reads those of any other tool;
* `measure.report` counts them, `report.write` writes `audit/<name>/` in the dataset folder, which is released;
* `goldsmith check` makes findings of that (`findings`), as of any check.

Statistics: `agreement` and `people` (DuckDB), `flags`, `bounds`, `consensus`, `rubric`; likeness of answers: `text`,
`spans`, `gamma`, `shapes`.
"""
