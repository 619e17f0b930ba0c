/** @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { Loading } from "./empty.tsx";
import { ErrorNote } from "./error-note.tsx";
import type { Resource } from "./resource.ts";

interface Props<T> {
  readonly from: Resource<T>;
  readonly children: (data: T) => ComponentChildren;
}

/** Shows the loaded data, a loading note, or the error. */
export function Loaded<T>({ from: { data, error, reload }, children }: Props<T>) {
  if (data !== null) return <>{children(data)}</>;
  return error === null ? <Loading /> : <ErrorNote error={error} retry={reload} />;
}
