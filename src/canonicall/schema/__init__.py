"""Tool schemas between dialects: what a target does not take is said otherwise, or reported.

`fitting.fit_schema` is the way in. A schema passes, in this order:

1. `limits`: the target's rule, made ready for one mode (plain or strict).
2. `glance`: most schemas fit as they are; one quick pass tells so, and nothing else is done.
3. `root`: arguments are an object, and the root has to show it (with `merging` for its options).
4. `fitting`: the walk, which takes every schema inside through the next steps.
5. `definitions`: references as the target takes them, found with `references`; what is too deep or
   too large ends in `cutting`.
6. `wording`: one schema in the keywords the target has. First older `drafts` are read as the newest
   and keywords that hold nonsense (`soundness`) are left out, then words the target lacks are
   replaced by `equivalents` or left out.
7. `strict`: objects closed and complete, where the tool is strict.

Each change is a loss (`losses`): what it does to the meaning, and where. `keywords` is the
vocabulary they all share.
"""
