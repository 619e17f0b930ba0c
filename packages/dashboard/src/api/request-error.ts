/** Message about one field, and its path. */
interface Detail {
  readonly path: string;
  readonly message: string;
  readonly code?: string;
  readonly line?: number;
  readonly column?: number;
}

interface Facts {
  readonly code: string;
  readonly message: string;
  readonly hint?: string | undefined;
  readonly status?: number | undefined;
  readonly requestId?: string | undefined;
  readonly details?: readonly Detail[] | undefined;
}

/** A request that failed, in the words of the API. */
export class RequestError extends Error {
  override name = "RequestError";
  readonly code: string;
  readonly hint: string | null;
  /** The status of the response; 0 when there was none. */
  readonly status: number;
  /** Id of the request in the server's log. */
  readonly requestId: string | null;
  readonly details: readonly Detail[];

  constructor({ code, message, hint, status, requestId, details }: Facts) {
    super(message);
    this.code = code;
    this.hint = hint ?? null;
    this.status = status ?? 0;
    this.requestId = requestId ?? null;
    this.details = details ?? [];
  }
}

/** Turns a response other than 2xx into an error. */
export async function toRequestError(response: Response): Promise<RequestError> {
  const body: unknown = await response.json().catch(() => null);
  const error = (body as { error?: Partial<Facts> } | null)?.error ?? {};
  const missing = error.details?.find(({ code }) => code === "missing_permission");
  // The API speaks of a key, of which people who are signed in know nothing.
  if (missing)
    return new RequestError({
      code: "forbidden",
      message: `Your role may not ${sayPermission(missing.message)}.`,
      hint: "Ask an owner of this workspace.",
      status: response.status,
      requestId: error.requestId,
    });
  return new RequestError({
    code: error.code ?? "error",
    message: error.message ?? `The server answered ${response.status}.`,
    hint: error.hint,
    details: error.details,
    status: response.status,
    requestId: error.requestId ?? response.headers.get("x-request-id") ?? undefined,
  });
}

const VERBS: Readonly<Record<string, string>> = { read: "see", write: "change", send: "send" };
const NOUNS: Readonly<Record<string, string>> = {
  transactional: "emails",
  received: "received mail",
  people: "people's data",
  brand: "the brand",
  billing: "plan and credits",
  audit: "the audit log",
};

/** A permission in words: `contacts:write` is `change contacts`. */
function sayPermission(permission: string): string {
  const [noun = "", verb = ""] = permission.split(":");
  return `${VERBS[verb] ?? verb} ${NOUNS[noun] ?? noun.replaceAll("_", " ")}`;
}

/** Any error as one that can be shown. */
export function asRequestError(error: unknown): RequestError {
  if (error instanceof RequestError) return error;
  const hint = error instanceof Error && "hint" in error ? String(error.hint) : undefined;
  return new RequestError({ code: "error", message: error instanceof Error ? error.message : String(error), hint });
}

/** The message about a field without the field's path in front of it, for places that show where it belongs. */
export function withoutPath(message: string, path: string): string {
  return message.startsWith(`${path}: `) ? message.slice(path.length + 2) : message;
}

/** True for the error of a change that the server refused because the object has a newer revision. */
export function isOutdated(error: unknown): boolean {
  return error instanceof RequestError && error.details.some(({ code }) => code === "outdated");
}
