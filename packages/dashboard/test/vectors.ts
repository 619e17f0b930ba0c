/** Console message of a vector that runs, in any frame. */
export const EXECUTED = "executed";

const RUN = `console.log('${EXECUTED}')`;

/** Ways to have a browser execute something, or load something from elsewhere. */
export const VECTORS: readonly string[] = [
  `<script>${RUN}</script>`,
  `<ScRiPt >${RUN}</sCrIpT >`,
  `<script src="data:text/javascript,${encodeURIComponent(RUN)}"></script>`,
  `<img src="x" onerror="${RUN}">`,
  `<img src=x onerror=${RUN.replaceAll("'", "&#39;")}>`,
  `<svg onload="${RUN}"></svg>`,
  `<svg><script>${RUN}</script></svg>`,
  `<svg><animate onbegin="${RUN}" attributeName="x" dur="1s"></svg>`,
  `<svg><a xlink:href="javascript:${RUN}"><text y="20">x</text></a></svg>`,
  `<body onload="${RUN}" onpageshow="${RUN}" onfocus="${RUN}">`,
  `<iframe srcdoc="<script>${RUN}</script>"></iframe>`,
  `<iframe src="javascript:${RUN}"></iframe>`,
  `<object data="data:text/html,<script>${RUN}</script>"></object>`,
  `<embed src="data:text/html,<script>${RUN}</script>">`,
  `<meta http-equiv="refresh" content="0;url=javascript:${RUN}">`,
  `<form action="javascript:${RUN}"><input autofocus onfocus="${RUN}"><button>x</button></form>`,
  `<video src="x" onerror="${RUN}"></video><audio src="x" onerror="${RUN}"></audio>`,
  `<details open ontoggle="${RUN}">x</details>`,
  `<a href="javascript:${RUN}">x</a>`,
  `<style>@keyframes a{}*{animation:a 1s}</style><p onanimationstart="${RUN}">x</p>`,
  `</iframe></pre></textarea></title></div><script>${RUN}</script>`,
  `"><script>${RUN}</script>`,
  `' onmouseover='${RUN}' autofocus onfocus='${RUN}' x='`,
  `<math><mtext><table><mglyph><style><!--</style><img title="--><img src=x onerror=${RUN.replaceAll("'", "&#39;")}>">`,
  `<template><script>${RUN}</script></template><input type="image" src="x" onerror="${RUN}">`,
  `javascript:${RUN}`,
  '<base href="https://evil.example/"><link rel="stylesheet" href="/a.css">',
  "<style>@import url(https://evil.example/a.css); body { background: url(https://evil.example/b.png) }</style>",
];

/** The vectors by their numbers, several at once: as many as stand in a line of that length. */
export function groupVectors(most: number): readonly (readonly number[])[] {
  return VECTORS.reduce<number[][]>((groups, vector, i) => {
    const last = groups.at(-1);
    const length = last?.reduce((sum, at) => sum + (VECTORS[at]?.length ?? 0) + 1, vector.length) ?? most;
    if (last && length < most) last.push(i);
    else groups.push([i]);
    return groups;
  }, []);
}

/** Some vectors as HTML. A text before each of them shows that the one before it hides nothing. */
export function writeHtml(group: readonly number[]): string {
  return group.map((i) => `<p>hostile ${i}</p>${VECTORS[i]}`).join("\n");
}
