/** An agent that runs. */
export interface RunningAgent {
  /** Ends it at once, without a word, as `kill -9` does. Resolves when it has ended. */
  kill(): Promise<void>;
}
