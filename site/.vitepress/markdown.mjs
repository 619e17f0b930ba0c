// How the site reads the repository's markdown, which is written to be read on GitHub as well.
import { relative } from "node:path";
import { root, targetOf } from "./pages.mjs";

/** The name of a fenced block: `Terminal` of ```sh [Terminal]. */
const labelOf = (token) => (token?.type === "fence" ? (/\[(.+)\]/.exec(token.info)?.[1] ?? null) : null);

export function readAsOnGitHub(md) {
  md.core.ruler.push("links-of-the-repository", mapLinks);
  md.core.ruler.push("tabs", groupTabs);
  // Vue would see an expression. VitePress's own rule for text keeps entities such as &lt; as they are.
  const withoutExpressions = (html) => html.replaceAll("{{", "&#123;&#123;");
  const { text } = md.renderer.rules;
  md.renderer.rules.text = (...args) => withoutExpressions(text(...args));
  md.renderer.rules.code_inline = (tokens, index) => `<code>${withoutExpressions(md.utils.escapeHtml(tokens[index].content))}</code>`;
}

/** Points links at pages of the site. A link to a file that is no page becomes its text. */
function mapLinks({ tokens, env }) {
  const file = relative(root, env.realPath ?? env.path);
  for (const inline of tokens) {
    if (inline.type !== "inline") continue;
    let dropped = 0;
    inline.children = inline.children.filter((token) => {
      if (token.type === "link_close") return dropped === 0 || dropped-- === 0;
      if (token.type !== "link_open") return true;
      const target = targetOf(file, token.attrGet("href"));
      if (target === null) dropped++;
      else token.attrSet("href", target);
      return target !== null;
    });
  }
}

/** Shows named blocks that follow each other as tabs of one group. */
function groupTabs({ tokens, Token }) {
  for (let first = 0; first < tokens.length; first++) {
    let end = first;
    while (labelOf(tokens[end]) !== null) end++;
    if (end - first < 2) continue;
    const open = new Token("container_code-group_open", "div", 1);
    open.info = "code-group";
    open.block = true;
    tokens.splice(end, 0, new Token("container_code-group_close", "div", -1));
    tokens.splice(first, 0, open);
    first = end + 1;
  }
}
