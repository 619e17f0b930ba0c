/** @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { takeArrival } from "../router.tsx";

interface Props {
  readonly title: string;
  /** One sentence on what it is for. */
  readonly about?: ComponentChildren;
  /** The page above this one. */
  readonly back?: { readonly href: string; readonly name: string };
  /** Buttons. */
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** The head of a page and its content. The title is that of the tab, too. */
export function Page({ title, about, back, actions, children }: Props) {
  const head = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · mailsvc`;
  }, [title]);
  useEffect(() => {
    // The link that had the focus is gone, and readers who do not see the page hear where they are.
    if (takeArrival()) head.current?.focus({ preventScroll: true });
  }, []);
  return (
    <div class="page">
      <div class="page-head">
        <div>
          {back ? (
            <a class="back" href={back.href}>
              ← {back.name}
            </a>
          ) : null}
          <h1 ref={head} tabIndex={-1}>
            {title}
          </h1>
          {about ? <p class="soft">{about}</p> : null}
        </div>
        {actions ? <div class="buttons">{actions}</div> : null}
      </div>
      {children}
    </div>
  );
}
