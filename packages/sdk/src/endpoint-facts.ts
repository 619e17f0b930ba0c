/** Facts a client needs to call an endpoint; the contract has the rest. */
export interface EndpointFacts {
  readonly method: string;
  /** Full path with `:name` for parameters. */
  readonly path: string;
  /** Takes no API key. */
  readonly open?: true;
  /** Answers with more to a caller with a key, although it needs none. */
  readonly keyOptional?: true;
  /** Takes a JSON body. */
  readonly body?: true;
  /** Takes a query: of any fields, or of these where there is a body too. */
  readonly query?: true | readonly string[];
  /** Answers with a page of a list. */
  readonly page?: true;
  /** Answers with a stream of server-sent events. */
  readonly stream?: true;
  /** Media type of an answer that is not JSON. */
  readonly produces?: string;
  /** That answer is bytes, not text. */
  readonly binary?: true;
  /** The body may be a file of at most this many bytes. */
  readonly maxFileBytes?: number;
  /** Extra seconds the server may need to answer. The query field `timeout` takes precedence. */
  readonly waitSeconds?: number;
}

/**
 * Endpoints by noun, a line for each verb: `list GET emails query page`. Bundles of programs have this table whole, and as objects it was
 * twice as long. Paths without a slash at the beginning are below `/api/v1/`.
 */
export type EndpointTable = Readonly<Record<string, string>>;

/** The endpoints of a noun, by their verbs. */
export function readEndpoints(lines: string): [string, EndpointFacts][] {
  return lines
    .trim()
    .split("\n")
    .map((line) => {
      const [verb = "", method, path = "", ...facts] = line.trim().split(" ");
      return [
        verb,
        { method, path: path[0] === "/" ? path : `/api/v1/${path}`, ...Object.fromEntries(facts.map(readFact)) } as EndpointFacts,
      ];
    });
}

/** A fact by itself, or one with a value as JSON: `waitSeconds=30`. */
function readFact(fact: string): [string, unknown] {
  const [name = "", value] = fact.split("=");
  return [name, value === undefined || JSON.parse(value)];
}
