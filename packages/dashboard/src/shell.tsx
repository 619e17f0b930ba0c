/** @jsxImportSource preact */
import type { ComponentChildren, ComponentType } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { connected } from "./api/live.ts";
import { isServerGone } from "./api/outage.ts";
import { may, mayOperate, type Session } from "./api/session.ts";
import { becomeOperator, chooseWorkspace, signOut } from "./api/sign-in.ts";
import { Field } from "./parts/field.tsx";
import type { FinderProps } from "./parts/finder.tsx";
import { FormButton } from "./parts/form-button.tsx";
import { OpenCount, OpenTotal } from "./parts/open-count.tsx";
import { toast } from "./parts/toast.tsx";
import { path, toHref } from "./router.tsx";
import { NAVIGATION } from "./routes.ts";

interface Props {
  readonly session: Session;
  readonly children: ComponentChildren;
}

/** Frame of every page: the navigation, the workspace and the signed-in person. */
export function Shell({ session, children }: Props) {
  const main = useRef<HTMLElement>(null);
  const at = path.value;
  const nav = useRef<HTMLElement>(null);
  // On a phone.
  const [open, setOpen] = useState(false);
  const menu = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    setOpen(false);
    if (nav.current) reveal(nav.current);
  }, [at]);
  const shown = NAVIGATION.filter(({ marketplace }) => !marketplace || session.marketplace);
  const groups = shown
    .map(({ group, entries }) => ({
      group,
      entries: entries.filter(
        ({ permission, unless, dev }) =>
          (permission === "operator" ? mayOperate() : may(permission)) && !(unless && may(unless)) && (!dev || session.dev),
      ),
    }))
    .filter(({ entries }) => entries.length > 0);
  return (
    <div class="shell">
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          main.current?.focus();
        }}
      >
        Skip to the content
      </a>
      <header class="side">
        <div class="brand">
          <span class="logo" aria-hidden="true" />
          <span>mailsvc</span>
          {session.dev ? <span class="badge">dev</span> : null}
        </div>
        <Workspaces session={session} />
        <Find pages={groups.flatMap(({ entries }) => entries)} />
        <button ref={menu} type="button" class="menu-button" aria-expanded={open} aria-controls="pages" onClick={() => setOpen(!open)}>
          Menu
          <OpenTotal />
        </button>
        <nav
          id="pages"
          ref={nav}
          aria-label="Pages"
          class={open ? "open" : ""}
          onKeyDown={({ key }) => {
            if (key !== "Escape" || !open) return;
            setOpen(false);
            menu.current?.focus();
          }}
        >
          {groups.map(({ group, entries }) => (
            <div key={group} class="group">
              <h2>{group}</h2>
              <ul>
                {entries.map(({ name, path: to, also, count }) => (
                  <li key={to}>
                    <a href={toHref(to)} aria-current={[to, also].includes(at) || at.startsWith(`${to}/`) ? "page" : undefined}>
                      {name}
                      {count ? <OpenCount {...count} /> : null}
                    </a>
                  </li>
                ))}
              </ul>
            </div>
          ))}
        </nav>
        <Person session={session} />
      </header>
      <main id="main" ref={main} tabIndex={-1}>
        <OutageBar />
        {children}
      </main>
      <Keys />
    </div>
  );
}

const IS_MAC = /mac|iphone|ipad/i.test(navigator.platform);

/** Button, and keys, that open the dialog for finding anything. Its script is loaded when it is first opened. */
function Find({ pages }: { readonly pages: FinderProps["pages"] }) {
  const [Finder, setFinder] = useState<ComponentType<FinderProps> | null>(null);
  const [open, setOpen] = useState(false);
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== "k" || event.altKey || event.shiftKey || !(IS_MAC ? event.metaKey : event.ctrlKey)) return;
      event.preventDefault();
      // A dialog is answered before another one opens.
      if (!document.querySelector("dialog[open]")) setOpen(true);
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, []);
  useEffect(() => {
    if (!open || Finder !== null) return;
    import("./parts/finder.tsx").then(
      ({ default: Loaded }) => setFinder(() => Loaded),
      () => {
        setOpen(false);
        toast("The server does not answer. Try again.", { bad: true });
      },
    );
  }, [open]);
  return (
    <>
      <button type="button" class="find-button" aria-keyshortcuts={IS_MAC ? "Meta+K" : "Control+K"} onClick={() => setOpen(true)}>
        <svg viewBox="0 0 16 16" width="14" height="14" fill="none" stroke="currentColor" stroke-width="1.6" aria-hidden="true">
          <circle cx="7" cy="7" r="4.5" />
          <path d="m10.5 10.5 4 4" />
        </svg>
        <span>Find…</span>
        <kbd>{IS_MAC ? "⌘" : "Ctrl "}K</kbd>
      </button>
      {open && Finder !== null ? <Finder pages={pages} close={() => setOpen(false)} /> : null}
    </>
  );
}

/** Follows the keys that work on every page, and lists them in a dialog. */
function Keys() {
  const keys = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.composedPath()[0])) return;
      if (event.key === "?") keys.current?.showModal();
      else if (event.key === "/") document.querySelector<HTMLElement>("[data-search]")?.focus();
      else return;
      event.preventDefault();
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, []);
  return (
    <dialog ref={keys} aria-label="Keys">
      <h2>Keys</h2>
      <dl class="keys">
        <dt>
          <kbd>{IS_MAC ? "⌘" : "Ctrl"}</kbd> <kbd>K</kbd>
        </dt>
        <dd>Find a page, a person, mail, an id</dd>
        <dt>
          <kbd>/</kbd>
        </dt>
        <dd>Search on this page</dd>
        <dt>
          <kbd>j</kbd> <kbd>k</kbd>
        </dt>
        <dd>Next and previous mail of the inbox</dd>
        <dt>
          <kbd>?</kbd>
        </dt>
        <dd>These keys</dd>
      </dl>
      <form method="dialog" class="buttons end">
        <button type="submit">Close</button>
      </form>
    </dialog>
  );
}

/** Scrolls the navigation so that the entry of the page is in sight. Not by `scrollIntoView`, after which Tab would go on from there. */
function reveal(nav: HTMLElement): void {
  const entry = nav.querySelector("[aria-current]")?.getBoundingClientRect();
  if (!entry) return;
  const { top, bottom } = nav.getBoundingClientRect();
  if (entry.top < top) nav.scrollTop -= top - entry.top + 8;
  else if (entry.bottom > bottom) nav.scrollTop += entry.bottom - bottom + 8;
}

/** The workspace, as a choice if there are several. */
function Workspaces({ session: { workspace, workspaces } }: { readonly session: Session }) {
  if (workspaces.length < 2) return <p class="workspace">{workspace.name}</p>;
  const choose = (id: string): void => {
    chooseWorkspace(id).catch((error: Error) => toast(error.message, { bad: true }));
  };
  return (
    <label class="workspace">
      <span class="hidden">Workspace</span>
      <select value={workspace.id} onChange={({ currentTarget }) => choose(currentTarget.value)}>
        {workspaces.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

function Person({ session: { dev, operator, role, name, email, version } }: { readonly session: Session }) {
  const leave = (everywhere: boolean) => (): void => {
    signOut(everywhere).catch((error: Error) => toast(error.message, { bad: true }));
  };
  return (
    <div class="person">
      <span class={connected.value ? "live on" : "live"} role="status">
        {connected.value ? "Live" : "Not connected"}
      </span>
      {dev ? (
        <span class="soft">{version}</span>
      ) : (
        <details>
          <summary>{name ?? email ?? role}</summary>
          <div class="menu">
            <p class="soft">
              {email === null ? null : (
                <>
                  {email}
                  <br />
                </>
              )}
              {operator ? "operator" : role} · {version}
            </p>
            {role === "owner" && !operator ? <BecomeOperator /> : null}
            <button type="button" onClick={leave(false)}>
              Sign out
            </button>
            <button type="button" onClick={leave(true)}>
              Sign out everywhere
            </button>
          </div>
        </details>
      )}
    </div>
  );
}

/** The queue, relays and workspaces are the server's, not a workspace's: they need another key. */
function BecomeOperator() {
  return (
    <FormButton
      label="Operate the server"
      title="Operate the server"
      submit="Continue"
      act={(values) => becomeOperator(values.text("operatorKey"))}
    >
      <Field label="Operator key" hint="The queue, relays and workspaces are those of the whole server, and need its operator key.">
        <input type="password" name="operatorKey" required autocomplete="off" spellcheck={false} placeholder="ms_op_…" />
      </Field>
    </FormButton>
  );
}

function isTyping(target: EventTarget | undefined): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}

/** Says across the page that the server does not answer, as long as that is so. */
function OutageBar() {
  return (
    <div class="outage" role="alert">
      {isServerGone.value ? (
        <p>
          <strong>The server does not answer.</strong> What you have typed stays here. This page goes on by itself when the server is back.
        </p>
      ) : null}
    </div>
  );
}
