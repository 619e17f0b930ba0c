/** @jsxImportSource preact */
import { computed, signal } from "@preact/signals";
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { asRequestError, type RequestError } from "./api/request-error.ts";
import { Loading } from "./parts/empty.tsx";
import { ErrorNote } from "./parts/error-note.tsx";

const BASE = "/dashboard";

/** A page: its path below /dashboard, and the module that is loaded when it is first shown. */
export interface Route {
  /** With `:name` for what the page gets as `params`. */
  readonly path: string;
  readonly load: () => Promise<{ readonly default: ComponentType<PageProps> }>;
}

export interface PageProps {
  readonly params: Readonly<Record<string, string>>;
}

const address = signal(`${location.pathname}${location.search}`);

/** The path below /dashboard, with a slash first. */
export const path = computed(() => new URL(address.value, location.origin).pathname.slice(BASE.length).replace(/\/$/, "") || "/");

/** The query of the address. */
export const query = computed(() => new URL(address.value, location.origin).searchParams);

window.addEventListener("popstate", () => {
  address.value = `${location.pathname}${location.search}`;
});

/** The address of a page, for links. */
export function toHref(to: string): string {
  return `${BASE}${to === "/" ? "" : to}`;
}

/** Goes to another page. `replace` leaves no way back to this one. */
export function go(to: string, { replace = false }: { readonly replace?: boolean } = {}): void {
  const href = toHref(to);
  if (href === address.peek()) return;
  history[replace ? "replaceState" : "pushState"](null, "", href);
  address.value = href;
}

/** Sets fields of the query and keeps the rest; an empty text removes a field. */
export function setQuery(fields: Readonly<Record<string, string>>): void {
  const next = new URLSearchParams(query.peek());
  for (const [name, value] of Object.entries(fields)) {
    if (value === "") next.delete(name);
    else next.set(name, value);
  }
  const text = next.toString();
  go(`${path.peek()}${text === "" ? "" : `?${text}`}`, { replace: true });
}

/** Follows links to pages of the dashboard without loading the document again. */
export function followLinks(event: MouseEvent): void {
  const link = event.target instanceof Element ? event.target.closest("a") : null;
  const changed = event.ctrlKey || event.metaKey || event.shiftKey || event.altKey || event.button !== 0;
  if (!link || changed || event.defaultPrevented || link.target || link.hasAttribute("download")) return;
  const url = new URL(link.href);
  if (url.origin !== location.origin || !url.pathname.startsWith(BASE) || url.hash !== "") return;
  event.preventDefault();
  go(`${url.pathname.slice(BASE.length) || "/"}${url.search}`);
}

/** Shows the page of the address. */
export function Pages({ routes }: { readonly routes: readonly Route[] }) {
  const found = match(routes, path.value);
  const [page, setPage] = useState<{ route: Route; Page: ComponentType<PageProps> } | null>(null);
  const [error, setError] = useState<RequestError | null>(null);
  const route = found?.route ?? null;
  useEffect(() => {
    if (route === null) return;
    setError(null);
    route.load().then(
      ({ default: Page }) => setPage({ route, Page }),
      (cause: unknown) => setError(asRequestError(cause)),
    );
  }, [route]);
  if (found === null)
    return <ErrorNote title="There is no such page" text="The address may be mistyped, or the page is of another version." />;
  if (error !== null) return <ErrorNote title="The page could not be loaded" error={error} />;
  if (page === null || page.route !== route) return <Loading />;
  return <page.Page params={found.params} />;
}

function match(routes: readonly Route[], at: string): { route: Route; params: Record<string, string> } | null {
  const parts = at.split("/");
  for (const route of routes) {
    const wanted = route.path.split("/");
    if (wanted.length !== parts.length) continue;
    const params: Record<string, string> = {};
    const fits = wanted.every((part, i) => {
      const value = parts[i] ?? "";
      if (!part.startsWith(":")) return part === value;
      params[part.slice(1)] = decodeURIComponent(value);
      return value !== "";
    });
    if (fits) return { route, params };
  }
  return null;
}
