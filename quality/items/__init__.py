"""An audit of the items of a benchmark by what models reached: `panel` reads, `measure` judges, `page` shows."""
