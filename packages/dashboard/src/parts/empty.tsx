/** @jsxImportSource preact */
import type { ComponentChildren } from "preact";

interface Props {
  readonly title: string;
  /** True if it fills the page, and is its title. */
  readonly isPage?: boolean;
  readonly children?: ComponentChildren;
}

/** The empty state of a list: what it will show, and how to get the first entry. */
export function Empty({ title, isPage = false, children }: Props) {
  return (
    <div class="empty">
      {isPage ? <h1>{title}</h1> : <h2>{title}</h2>}
      {children}
    </div>
  );
}

export function Loading() {
  return (
    <div class="loading" role="status">
      <span class="spinner" aria-hidden="true" />
      <span class="hidden">Loading</span>
    </div>
  );
}
