"""Generated code: run shut in, in a process of its own, and judged by what it returns.

    child      the other side: shuts itself in, and runs one program
    sandbox    starts it, hears it, ends it
    answers    the program in an answer, and what its tests say of it
    judging    all answers of a run, judged once and kept in the store

Only the command line comes here, and only where it is told to.
"""
