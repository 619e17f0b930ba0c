/** @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { Loading } from "./empty.tsx";
import { ErrorNote } from "./error-note.tsx";
import type { Resource } from "./resource.ts";

interface Props<T> {
  readonly from: Resource<T>;
  readonly children: (data: T) => ComponentChildren;
}

/** What is loaded, or that it loads, or why it could not be loaded. */
export function Loaded<T>({ from: { data, error, reload }, children }: Props<T>) {
  if (data !== null) return <>{children(data)}</>;
  return error === null ? <Loading /> : <ErrorNote error={error} retry={reload} />;
}
