/** Refusal of a tool, for the model to read. It becomes a result with `isError`, not an error of the protocol. */
export class ToolError extends Error {
  override name = "ToolError";
  /** Advice on a way that works; null if there is nothing to add. */
  readonly hint: string | null;

  constructor(message: string, hint: string | null = null) {
    super(message);
    this.hint = hint;
  }

  /** The whole explanation. */
  get text(): string {
    return this.hint === null ? this.message : `${this.message}\n${this.hint}`;
  }
}
