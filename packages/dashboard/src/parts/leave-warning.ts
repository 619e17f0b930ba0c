import { useEffect } from "preact/hooks";
import { findTarget } from "../router.tsx";

/** Asks before the browser closes a page with changes. With `links`, also before a link of the dashboard leads away: nothing keeps them. */
export function useLeaveWarning(changed: boolean, { links = false }: { readonly links?: boolean } = {}): void {
  useEffect(() => {
    if (!changed) return;
    const close = (event: BeforeUnloadEvent): void => event.preventDefault();
    const leave = (event: MouseEvent): void => {
      if (links && findTarget(event) !== null && !confirm("Leave this page? Your changes are not saved.")) event.preventDefault();
    };
    window.addEventListener("beforeunload", close);
    // Before the router sees the click.
    document.addEventListener("click", leave, { capture: true });
    return () => {
      window.removeEventListener("beforeunload", close);
      document.removeEventListener("click", leave, { capture: true });
    };
  }, [changed, links]);
}
