/** Why a tool did not do what was asked, for the model to read. It becomes a result with `isError`, not an error of the protocol. */
export class ToolError extends Error {
  override name = "ToolError";
  /** How to do it instead; null when there is nothing to add. */
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
