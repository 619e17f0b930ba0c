/** A fault that is planted into one file of the server while it is loaded, to try whether the worlds find it. */
export interface Mutation {
  readonly name: string;
  /** Fault of the service with it. */
  readonly about: string;
  /** A file below `packages/server/src`. */
  readonly file: string;
  /** A text that the file has once. */
  readonly text: string;
  readonly instead: string;
}
