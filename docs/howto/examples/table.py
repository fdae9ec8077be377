import seqcon

result = seqcon.analyse(["specs/peterson.slco", "specs/mp.slco"], mm=["tso", "pso"])
for row in result.summary if isinstance(result.summary, list) else result.summary.to_dict("records"):
    print(row["model"], row["memory_model"], row["states"], row["fences"])
