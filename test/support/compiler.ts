/** For tsc: its four checkers look at much of the same, which takes twice the processor time, and nothing is gained while other tests run. */
export const ONE_CHECKER = ["--checkers", "1"] as const;
