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

/** Endpoints by noun and verb. */
export type EndpointTable = Readonly<Record<string, Readonly<Record<string, EndpointFacts>>>>;
