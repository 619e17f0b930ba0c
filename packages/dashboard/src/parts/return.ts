import { useEffect, useRef } from "preact/hooks";

/** Calls a function when the person comes back to this page from another tab or program. An error is ignored until the next time. */
export function useReturn(look: () => Promise<void>): void {
  const current = useRef(look);
  current.current = look;
  useEffect(() => {
    const back = (): void => {
      if (document.visibilityState === "visible") current.current().catch(() => {});
    };
    window.addEventListener("focus", back);
    return () => window.removeEventListener("focus", back);
  }, []);
}
