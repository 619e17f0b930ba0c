/** @jsxImportSource preact */
import type { ComponentChildren } from "preact";

/** The empty state of a list: what it will show, and how to get the first entry. */
export function Empty({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) {
  return (
    <div class="empty">
      <h2>{title}</h2>
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
