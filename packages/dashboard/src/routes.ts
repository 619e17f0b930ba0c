import type { Permission } from "@mailsvc/sdk/contract";
import type { Route } from "./router.tsx";

/** An entry of the navigation. It is shown to people whose role may read what it shows. */
interface Entry {
  readonly name: string;
  readonly path: string;
  readonly permission: Permission;
  /** Only in dev mode. */
  readonly dev?: true;
}

/** The navigation: groups of entries, in the order in which they are shown. */
export const NAVIGATION: readonly { readonly group: string; readonly entries: readonly Entry[] }[] = [
  {
    group: "Mail",
    entries: [
      { name: "Activity", path: "/activity", permission: "transactional:read" },
      { name: "Inbox", path: "/inbox", permission: "transactional:read" },
    ],
  },
  {
    group: "Settings",
    entries: [{ name: "People signed in", path: "/people", permission: "keys:read" }],
  },
];

/** The pages. Each is a module of its own, which the browser loads when it is first shown. */
export const ROUTES: readonly Route[] = [
  { path: "/activity", load: () => import("./pages/activity.tsx") },
  { path: "/activity/:id", load: () => import("./pages/email.tsx") },
  { path: "/inbox", load: () => import("./pages/inbox.tsx") },
  { path: "/inbox/:id", load: () => import("./pages/inbox.tsx") },
  { path: "/people", load: () => import("./pages/people.tsx") },
];
