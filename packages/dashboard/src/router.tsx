/** @jsxImportSource preact */
import { computed, signal } from "@preact/signals";
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { suspectOutage } from "./api/outage.ts";
import { asRequestError, type RequestError } from "./api/request-error.ts";
import { Loading } from "./parts/empty.tsx";
import { ErrorNote } from "./parts/error-note.tsx";
import { useServerReturn } from "./parts/resource.ts";

const BASE = "/dashboard";

/** A page: its path below /dashboard, and the module that is loaded when it is first shown. */
export interface Route {
  /** Pattern, with `:name` for each of the page's `params`. */
  readonly path: string;
  readonly load: () => Promise<{ readonly default: ComponentType<PageProps> }>;
  /** The page stays when its params change, such as a list next to what is chosen in it. */
  readonly stays?: true;
}

export interface PageProps {
  readonly params: Readonly<Record<string, string>>;
}

const address = signal(`${location.pathname}${location.search}`);

/** The path below /dashboard, with a slash first. */
export const path = computed(() => new URL(address.value, location.origin).pathname.slice(BASE.length).replace(/\/$/, "") || "/");

/** True after a link led to the page, until the page has taken the focus. */
let arriving = false;

/** True once for each page that a link led to: it takes the focus, which was on the link. */
export function takeArrival(): boolean {
  const was = arriving;
  arriving = false;
  return was;
}

/** The query of the address. */
export const query = computed(() => new URL(address.value, location.origin).searchParams);

window.addEventListener("popstate", () => move(`${location.pathname}${location.search}`));

function move(to: string): void {
  const before = path.peek();
  address.value = to;
  if (path.peek() !== before) arriving = true;
}

/** Keeps how far the lists of this page are scrolled, so that the way back leads to the same rows. */
function keepPlaces(): void {
  const lists = [...document.querySelectorAll<HTMLElement>("main .rows")];
  const places = Object.fromEntries(lists.map((list) => [list.getAttribute("aria-label") ?? "", list.scrollTop]));
  history.replaceState({ places }, "", address.peek());
}

/** Scroll position of a list when the person left this page by a link, pixels; 0 on a page that they come to for the first time. */
export function readPlace(label: string): number {
  const state = history.state as { readonly places?: Readonly<Record<string, number>> } | null;
  return state?.places?.[label] ?? 0;
}

/** The address of a page, for links. */
export function toHref(to: string): string {
  return `${BASE}${to === "/" ? "" : to}`;
}

/** Goes to another page. `replace` leaves no way back to this one. */
export function go(to: string, { replace = false }: { readonly replace?: boolean } = {}): void {
  const href = toHref(to);
  if (href === address.peek()) return;
  if (!replace) keepPlaces();
  history[replace ? "replaceState" : "pushState"](null, "", href);
  move(href);
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

/** The page of the dashboard that a click leads to in place of this one; null for other clicks. */
export function findTarget(event: MouseEvent): string | null {
  const link = event.target instanceof Element ? event.target.closest("a") : null;
  const changed = event.ctrlKey || event.metaKey || event.shiftKey || event.altKey || event.button !== 0;
  if (!link || changed || event.defaultPrevented || link.target || link.hasAttribute("download")) return null;
  const url = new URL(link.href);
  if (url.origin !== location.origin || !url.pathname.startsWith(BASE) || url.hash !== "") return null;
  return `${url.pathname.slice(BASE.length) || "/"}${url.search}`;
}

/** Follows links to pages of the dashboard without loading the document again. */
export function followLinks(event: MouseEvent): void {
  const to = findTarget(event);
  if (to === null) return;
  event.preventDefault();
  go(to);
}

/** The scripts of each route, by their places among the names of files, as the build writes them into the document. */
interface Scripts {
  readonly files: readonly string[];
  readonly routes: Readonly<Record<string, readonly number[]>>;
}

/** Asks at once for all scripts of the page that is opened: a browser that follows imports waits for each of them in turn. */
export function preloadPage(routes: readonly Route[]): void {
  const route = match(routes, path.peek() === "/" ? "/overview" : path.peek())?.route;
  const listed = document.querySelector('meta[name="scripts"]')?.getAttribute("content");
  if (!route || !listed) return;
  const scripts = JSON.parse(listed) as Scripts;
  for (const i of scripts.routes[route.path] ?? []) {
    const link = document.createElement("link");
    link.rel = "modulepreload";
    link.href = `${BASE}/assets/${scripts.files[i]}`;
    document.head.append(link);
  }
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
    // The script of a page that was left may arrive after that of the page that is shown.
    let over = false;
    route.load().then(
      ({ default: Page }) => over || setPage({ route, Page }),
      (cause: unknown) => {
        if (over) return;
        suspectOutage();
        setError(asRequestError(cause));
      },
    );
    return () => {
      over = true;
    };
  }, [route]);
  // A browser remembers that a script could not be loaded. Nothing was typed into a page that was not there.
  useServerReturn(() => {
    if (error !== null) location.reload();
  });
  if (found === null)
    return (
      <div class="page">
        <h1 class="hidden">There is no such page</h1>
        <ErrorNote title="There is no such page" text="The address may be mistyped, or the page is of another version." />
      </div>
    );
  if (error !== null)
    return (
      <div class="page">
        <h1 class="hidden">The page could not be loaded</h1>
        <ErrorNote
          title="The page could not be loaded"
          text="The server does not answer, or has another version by now."
          retry={() => location.reload()}
        />
      </div>
    );
  if (page === null || page.route !== route) return <Loading />;
  // Another object is another page: what was loaded, chosen or typed for one is never shown, or saved, with another.
  return <page.Page key={route?.stays ? route.path : path.value} params={found.params} />;
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
      const text = decode(value);
      params[part.slice(1)] = text ?? "";
      return value !== "" && text !== null;
    });
    if (fits) return { route, params };
  }
  return null;
}

/** Null for a text that no address is written like, such as `%E0`. */
function decode(part: string): string | null {
  try {
    return decodeURIComponent(part);
  } catch {
    return null;
  }
}
