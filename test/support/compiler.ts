/** Flags of tsc: four checkers repeat much work, which doubles the processor time, and gain nothing while other tests run. */
export const ONE_CHECKER = ["--checkers", "1"] as const;
