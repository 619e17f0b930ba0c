const REMOVED = "[removed]";

// Shorter values would be found by chance.
const MIN_KNOWN = 8;

// Keys and webhook secrets, with everything that follows without a break.
const KEYS = /(ms_[a-z]{2,10}_|whsec_)[A-Za-z0-9+/=_-]{4,}/g;
// The signature in an address for bounces, replies and unsubscribing.
const SIGNED_ADDRESS = /((?:[bcu]-|reply\+)[0-9a-z]{26}-)[0-9a-f]{20}(?=@)/gi;
const URL_PASSWORD = /([a-z][a-z0-9+.-]*:\/\/[^\s:/?#@"']*:)[^\s@/"']+(?=@)/gi;
const SECRET_FIELD = /(?:secret|password|passphrase|token|api_?key|authorization|signature|private_?key|credentials?)$/i;
// Files are sent as base64 in JSON: they are in the recording of the mail.
const FILE_FIELD = /^(?:content|contentBase64)$/;
const MAX_FILE_TEXT = 1000;

/**
 * Removes secrets of an installation from what is recorded: its keys, webhook secrets, signatures, and the tokens of its links and
 * addresses. What a program writes into its own mail stays.
 */
export class SecretFilter {
  readonly #known = new Set<string>();
  readonly #tokens: RegExp;

  /** `paths` are those of pages whose address is secret, such as `/unsubscribe/:token`. */
  constructor(paths: readonly string[]) {
    const prefixes = paths
      .map((path) => path.slice(0, path.indexOf(":token")))
      .map((prefix) => prefix.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    this.#tokens = prefixes.length === 0 ? /(?!)/g : new RegExp(`(${prefixes.join("|")})[A-Za-z0-9_.~%-]{8,}`, "g");
  }

  /** Removes this value wherever it appears. */
  add(value: string | null | undefined): void {
    if (typeof value === "string" && value.length >= MIN_KNOWN) this.#known.add(value);
  }

  /** Looks for values in an answer of the server that are secret by the names of their fields, and removes them from everything else too. */
  learn(value: unknown): void {
    if (typeof value !== "object" || value === null) return;
    for (const [name, inner] of Object.entries(value)) {
      if (typeof inner === "string" && SECRET_FIELD.test(name)) this.add(inner);
      else this.learn(inner);
    }
  }

  /** A text without secrets. */
  clean(text: string): string {
    let cleaned = text;
    for (const secret of this.#known) if (cleaned.includes(secret)) cleaned = cleaned.replaceAll(secret, REMOVED);
    return cleaned
      .replace(KEYS, `$1${REMOVED}`)
      .replace(this.#tokens, `$1${REMOVED}`)
      .replace(SIGNED_ADDRESS, `$1${REMOVED}`)
      .replace(URL_PASSWORD, `$1${REMOVED}`);
  }

  /** A JSON value without secrets, those that only their name betrays included, and without the content of files. */
  cleanValue(value: unknown, name = ""): unknown {
    if (typeof value === "string") {
      if (SECRET_FIELD.test(name)) return REMOVED;
      if (FILE_FIELD.test(name) && value.length > MAX_FILE_TEXT) return `[${value.length} characters]`;
      return this.clean(value);
    }
    if (Array.isArray(value)) return value.map((one) => this.cleanValue(one, name));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [this.clean(key), this.cleanValue(inner, key)]));
  }

  /** A body as text without secrets: JSON by its fields, anything else as it is. */
  cleanBody(text: string): string {
    try {
      return JSON.stringify(this.cleanValue(JSON.parse(text)));
    } catch {
      return this.clean(text);
    }
  }
}
