const REMOVED = "[removed]";

// Keys and webhook secrets, with everything that follows without a break.
const KEYS = /(ms_[a-z]{2,10}_|whsec_)[A-Za-z0-9+/=_-]{4,}/g;
// The signature in an address for bounces, replies and unsubscribing.
const SIGNED_ADDRESS = /((?:[bcu]-|reply\+)[0-9a-z]{26}-)[0-9a-f]{20}(?=@)/gi;
// Begins with what is rare: looking for the scheme first takes the square of the length of a text without spaces.
const URL_PASSWORD = /(?<=:\/\/)([^\s:/?#@"']*:)[^\s@/"']+(?=@)/g;
const SECRET_FIELD = /^key$|(?:secret|password|passphrase|token|api_?key|authorization|signature|private_?key|credentials?)$/i;
// Fields that hold an address of the program's own.
const URL_FIELD = /^(?:url|webhookUrl|endpoint)$/;
// A part of a path as services make them to know who calls: long, and of digits or of letters in both cases. Our ids open nothing.
const SECRET_SEGMENT = /^(?![a-z]{2,4}_[0-9a-z]{26}$)(?=.*[0-9]|.*[a-z].*[A-Z]|.*[A-Z].*[a-z])[A-Za-z0-9._~%-]{16,}$/;
// Fields in a body that is no complete JSON document, and in a form.
const JSON_FIELD = /("([A-Za-z_]+)"\s*:\s*")(?:[^"\\]|\\.)+/g;
const FORM_FIELD = /((?:^|&)([A-Za-z_]+)=)[^&\s]+/g;
const SECRET_OPTION = /^--?[A-Za-z-]*(?:secret|password|passphrase|token|api-?key|credentials?)$/i;
const ASSIGNMENT = /^((?:--?)?([A-Za-z0-9_-]+)=)[\s\S]+/;
const QUERY = /([?&]([^=&#\s]+)=)([^&#\s]+)/g;
const SECRET_QUERY =
  /(?:^|[-_.])(?:key|sig|hmac|auth|code|pass|pwd|pw|jwt)$|(?:secret|password|passwd|passphrase|token|(?:api|access|auth|private|shared|sign(?:ing)?|hook)-?key|authorization|signature|credentials?)$/i;
// Files are sent as base64 in JSON: they are in the recording of the mail.
const FILE_FIELD = /^(?:content|contentBase64)$/;
const MAX_FILE_TEXT = 1000;

/** A page whose address is secret: its path holds `:token`, or these query parameters open something. */
export interface SecretPage {
  readonly path: string;
  readonly secretQuery?: readonly string[];
}

/**
 * Removes secrets of an installation from a recording: its keys, webhook secrets, signatures, and the tokens of its links and
 * addresses. Texts that a program writes into its own mail stay.
 */
export class SecretFilter {
  readonly #known = new KnownValues();
  /** Addresses with secrets in their query that are too short to be looked for alone, and what is shown of them. */
  readonly #addresses = new Map<string, string>();
  #tokens = /(?!)/g;
  #queries = /(?!)/g;

  /** Removes the tokens in addresses of pages. */
  addPages(pages: readonly SecretPage[]): void {
    const tokens = pages.flatMap(({ path }) => (path.includes(":token") ? [escapeRegex(path.slice(0, path.indexOf(":token")))] : []));
    const queries = pages.flatMap(({ path, secretQuery = [] }) =>
      // In a link of the page to itself there is no path, and in HTML the sign is an entity.
      secretQuery.map(
        (name) =>
          `(?:${escapeRegex(path).replace(/:\w+/g, "[^/?\\s]+")}|(?<=["']))\\?(?:[^\\s#"'<>]*[&;])?${escapeRegex(name)}(?:=|&#x3D;)`,
      ),
    );
    if (tokens.length > 0) this.#tokens = new RegExp(`(${[...new Set(tokens)].join("|")})[A-Za-z0-9_.~%-]{8,}`, "g");
    if (queries.length > 0) this.#queries = new RegExp(`(${queries.join("|")})[^&#\\s"'<>]+`, "g");
  }

  /** Removes this value wherever it appears, if it has 8 characters. */
  add(value: string | null | undefined): void {
    if (typeof value === "string") this.#known.add(value);
  }

  /**
   * Looks for values in an answer of the server that are secret by the names of their fields, and removes them from everything else too.
   */
  learn(value: unknown): void {
    if (typeof value !== "object" || value === null) return;
    for (const [name, inner] of Object.entries(value)) {
      // A field `key` may be a name, such as that of a property. Our own keys are known by their form.
      if (typeof inner === "string" && SECRET_FIELD.test(name) && name !== "key") this.add(inner);
      else this.learn(inner);
    }
  }

  /**
   * Looks for secrets in what a program sends to the server: those in the query of the addresses it names, and in the whole addresses of
   * webhooks. `ofWebhook` says that the request is about one.
   */
  learnRequest(value: unknown, ofWebhook = false): void {
    if (typeof value !== "object" || value === null) return;
    // Such as the step of an automation.
    const isWebhook = ofWebhook || Object.values(value).includes("webhook");
    for (const [name, inner] of Object.entries(value)) {
      if (typeof inner !== "string" || !URL_FIELD.test(name)) this.learnRequest(inner, isWebhook);
      else if (isWebhook || name === "webhookUrl") this.learnWebhook(inner);
      else this.learnUrl(inner);
    }
  }

  /**
   * Removes the secrets in the address of a webhook from everything: also those in its path, as Slack and Discord have them, and a token
   * in place of a user.
   */
  learnWebhook(url: string): void {
    this.learnUrl(url);
    if (!URL.canParse(url)) return;
    const { username, password, pathname } = new URL(url);
    // With a password, the user is a name such as "webhooks", and to remove it would spoil other texts.
    if (password === "" || SECRET_SEGMENT.test(username)) this.add(username);
    for (const segment of pathname.split("/")) if (SECRET_SEGMENT.test(segment)) this.add(segment);
  }

  /** Removes the secrets in the query of an address from everything. */
  learnUrl(url: string): void {
    for (const form of listForms(url)) {
      const shown = hideQuery(form);
      if (shown !== form) this.#addresses.set(form, shown);
    }
    for (const [, , name = "", value] of url.matchAll(QUERY)) if (SECRET_QUERY.test(name)) this.add(value);
  }

  /** An address without secrets, those in its query included. */
  cleanUrl(url: string): string {
    return this.clean(hideQuery(url));
  }

  /** A text without secrets. */
  clean(text: string): string {
    const shown = [...this.#addresses].reduce((all, [form, hidden]) => all.replaceAll(form, hidden), text);
    return this.#known
      .removeFrom(shown, REMOVED)
      .replace(KEYS, `$1${REMOVED}`)
      .replace(this.#tokens, `$1${REMOVED}`)
      .replace(this.#queries, `$1${REMOVED}`)
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

  /** A body as text without secrets: JSON and forms by their fields, also if they are cut off, anything else as it is. */
  cleanBody(text: string): string {
    try {
      return JSON.stringify(this.cleanValue(JSON.parse(text)));
    } catch {
      const removeField = (all: string, start: string, name: string): string => (SECRET_FIELD.test(name) ? `${start}${REMOVED}` : all);
      return this.clean(text.replace(JSON_FIELD, removeField).replace(FORM_FIELD, removeField));
    }
  }

  /** The arguments of a command without secrets: `--password x`, `API_TOKEN=x`. */
  cleanCommand(argv: readonly string[]): string[] {
    return argv.map((argument, i) => {
      if (SECRET_OPTION.test(argv[i - 1] ?? "")) return REMOVED;
      return this.cleanUrl(
        argument.replace(ASSIGNMENT, (all, start: string, name: string) => (SECRET_FIELD.test(name) ? `${start}${REMOVED}` : all)),
      );
    });
  }
}

function hideQuery(url: string): string {
  return url.replace(QUERY, (all, start: string, name: string) => (SECRET_QUERY.test(name) ? `${start}${REMOVED}` : all));
}

/** An address as it was given, as programs write it, and its path alone. */
function listForms(url: string): string[] {
  if (!URL.canParse(url)) return [url];
  const { href, pathname, search } = new URL(url);
  return [...new Set([url, href, ...(search === "" ? [] : [`${pathname}${search}`])])].sort((a, b) => b.length - a.length);
}

function escapeRegex(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

/** Shorter values would be found by chance. */
const SHORTEST = 8;
const SLOTS = 2 ** 16;

/**
 * Values that are removed wherever they appear. A text is walked once, however many values there are: three characters of each place say
 * whether a value can begin there, and the first eight which. 5,000 values take 60 ms for 0.8 MB, where a search for each took 1.2 s.
 */
export class KnownValues {
  readonly #byStart = new Map<string, string[]>();
  readonly #slots = new Uint8Array(SLOTS);

  /** A value of fewer than 8 characters is ignored. */
  add(value: string): void {
    if (value.length < SHORTEST) return;
    const start = value.slice(0, SHORTEST);
    const alike = this.#byStart.get(start);
    if (alike?.includes(value)) return;
    if (alike) alike.push(value);
    else this.#byStart.set(start, [value]);
    this.#slots[slotOf(value, 0)] = 1;
  }

  /** The text with `instead` in place of each value. All characters of overlapping values are removed. */
  removeFrom(text: string, instead: string): string {
    if (this.#byStart.size === 0) return text;
    let cleaned = "";
    let end = 0;
    for (let at = 0; at <= text.length - SHORTEST; at += 1) {
      if (this.#slots[slotOf(text, at)] === 0) continue;
      for (const value of this.#byStart.get(text.slice(at, at + SHORTEST)) ?? []) {
        if (!text.startsWith(value, at)) continue;
        if (at >= end) cleaned += text.slice(end, at) + instead;
        end = Math.max(end, at + value.length);
      }
    }
    return cleaned + text.slice(end);
  }
}

/** A number that is the same wherever the same eight characters are. */
function slotOf(text: string, at: number): number {
  return (text.charCodeAt(at) ^ (text.charCodeAt(at + 3) << 5) ^ (text.charCodeAt(at + SHORTEST - 1) << 9)) & (SLOTS - 1);
}
