"""Made tables of neutralisation and emergence, beside those of `made_virogym`: valid, to plant defects in.

Two titre tasks of eight sera and twelve strains, whose titres fall from one strain to the next and are censored at 40;
and two windows, one on the root and one on another reference.
"""

from __future__ import annotations

import json
import math

from made_virogym import Row, Tables, sha256_of, source, tables

from builders.virogym.schema import AMINO_ACIDS

TASKS = {"hi": "MADE_hi", "seqneut": "MADE_seqneut"}
HOME = {"hi": 2560.0, "seqneut": 2600.0}
FACTOR = {"hi": 2.0, "seqneut": 1.7}


def made_tables() -> Tables:
    """The made tables of the scans, with those of the other tasks."""
    made = tables()
    names = [f"A/Town/{number}/2023" for number in range(1, 13)]
    sequence = made["references"][0]["sequence"]
    alike = {"aliases": names, "subtype": "H3N2", "passage": "cell", "reassortant": None, "accession": None}
    for name in names:
        row = {
            "strain_id": f"{name}|HA1",
            "canonical_name": name,
            "sequence": sequence,
            "span": "HA1",
            "source": "made",
        }
        made["viruses"].append({**row, **alike})
    for kind, task_id in TASKS.items():
        made["sources"].append(source(task_id))
        made["titre_tasks"].append(_task(kind, task_id))
        for i in range(1, 9):
            row = {"serum_id": f"{task_id}|S{i}", "task_id": task_id, "serum_name": f"S{i}", "species": "ferret"}
            first = f"{names[0]}|HA1"
            row |= {"cohort": "made", "immunogen_strain_id": first, "immunogen_name": names[0], "source": "made"}
            made["sera"].append(row)
            made["neutralisation"] += [_titre(kind, row["serum_id"], name, i + j - 1) for j, name in enumerate(names)]
    made["sources"].append(source("MADE_counts"))
    made["label_rules"].append({"label_rule": "made", "meaning": "made", "definition": "{}", "citation": "made"})
    for window_id, reference, years in (("made_2020", "made_a", (2020, 2021)), ("made_2021", "made_b", (2021, 2022))):
        rows = _window(window_id, reference, made)
        made["emergence"] += rows
        made["windows"].append(_window_row(window_id, reference, years, rows))
    return made


def _task(kind: str, task_id: str) -> Row:
    words = "virus_species protein species cohort readout_detail citation source"
    return {
        **dict.fromkeys(words.split(), "made"), "task_id": task_id, "ncbi_taxid": 1, "subtype": "H3N2", "assay": kind,
        "titre_unit": "reciprocal dilution", "span": "HA1", "sequences": "required", "homologous_rule": "immunogen",
        "aggregation": "source", "detection_low": 40.0, "detection_high": 40960.0, "source_sha256": sha256_of(task_id),
        "licence_spdx": "MIT", "redistributable": True, "doi": None, "n_rows_in": 100, "n_rows_out": 96,
        "n_dropped_by_reason": json.dumps({"copy": 3, "merged": 1}),
    }  # fmt: skip


def _titre(kind: str, serum_id: str, name: str, step: int) -> Row:
    """Titres fall with `step`; the lowest are censored at 40."""
    titre = HOME[kind] / FACTOR[kind] ** step
    censored = titre < 40
    titre = 40.0 if censored else titre
    home = HOME[kind] / FACTOR[kind] ** (int(serum_id[-1]) - 1)
    drop = None if home < 40 else math.log2(home) - math.log2(titre)
    row = {"task_id": TASKS[kind], "serum_id": serum_id, "strain_id": f"{name}|HA1", "assay": kind, "titre": titre}
    row |= {"log2_titre": math.log2(titre), "censor": "left" if censored else "none", "sem": None, "replicates": None}
    row |= {"limit": 40.0 if censored else None, "n_rep": 2, "homologous_strain_id": "A/Town/1/2023|HA1"}
    return {**row, "log2_drop": drop, "source": "made"}


def _window(window_id: str, reference: str, made: Tables) -> list[Row]:
    sequence = next(row["sequence"] for row in made["references"] if row["reference_id"] == reference)
    sites = [row["reference_site"] for row in made["numbering"] if row["reference_id"] == reference]
    root = {row["reference_site"]: row["reference_wt"] for row in made["numbering"] if row["reference_id"] == "made_a"}
    rows = []
    for position, (wt, site) in enumerate(zip(sequence, sites, strict=True), 1):
        for mut in (*AMINO_ACIDS.replace(wt, ""), "-"):
            back = mut == root.get(site) and wt != root.get(site)
            status = "reversion" if back else ("absent", "counted", "counted")[(position + ord(mut)) % 3]
            status = "not_counted" if mut == "-" else status
            counts = (position * (ord(mut) % 3), position * 2) if status == "counted" else (None, None)
            novel = counts[0] == 0 if status == "counted" else None
            rows.append({
                "window_id": window_id, "reference_id": reference, "ref_site": site, "wt": wt, "mut": mut,
                "mutation": f"{wt}{position}{'del' if mut == '-' else mut}", "status": status,
                "observed_T": status == "counted", "count_T": counts[0], "count_T1": counts[1],
                "n_seq_T": 10_000, "n_seq_T1": 20_000,
                "freq_T": None if counts[0] is None else counts[0] / 10_000,
                "freq_T1": None if counts[1] is None else counts[1] / 20_000,
                "min_nt_dist": None if mut == "-" else 1 + position % 3, "is_reversion": back, "is_novel": novel,
                "is_emergent": novel, "label_rule": "made",
                "emergent_by": None if novel is None else ["made"] * novel, "source": "made",
                "data_cutoff": "2022-12-31",
            })  # fmt: skip
    return rows


def _window_row(window_id: str, reference: str, years: tuple[int, int], rows: list[Row]) -> Row:
    words = "virus_species protein listed_from source citation"
    counted = sum(row["observed_T"] for row in rows)
    return {
        **dict.fromkeys(words.split(), "made"), "window_id": window_id, "ncbi_taxid": 1, "reference_id": reference,
        "root_id": "made_a", "start_T": f"{years[0]}-01", "end_T": f"{years[0]}-12", "start_T1": f"{years[1]}-01",
        "end_T1": f"{years[1]}-12", "data_cutoff": "2022-12-31", "n_seq_T": 10_000, "n_seq_T1": 20_000,
        "n_seq_kind": "genomes", "n_counts_T": 1, "n_counts_T1": 1, "label_rule": "made",
        "source_sha256": sha256_of("MADE_counts"), "licence_spdx": "MIT", "redistributable": True, "doi": None,
        "n_candidates": len(rows), "n_rows_in": counted + 2, "n_dropped_by_reason": json.dumps({"no_candidate": 2}),
    }  # fmt: skip


def titres(made: Tables, kind: str) -> list[Row]:
    """The titres of one kind of assay."""
    return [row for row in made["neutralisation"] if row["assay"] == kind]


def retitre(row: Row, titre: float) -> None:
    """Another titre, with its logarithm."""
    row.update(titre=titre, log2_titre=math.log2(titre), log2_drop=None)


def counted(made: Tables, window_id: str = "made_2020") -> list[Row]:
    """The candidates of a window that have counts."""
    return [row for row in made["emergence"] if row["window_id"] == window_id and row["observed_T"]]
