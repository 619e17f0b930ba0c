/** HTML that sets `executed` in the page, or leaves the frame, if anything of it is executed. */
export const PAYLOADS = [
  "<script>top.executed = 1; parent.executed = 1</script>",
  '<img src="x" onerror="top.executed = 1">',
  '<svg onload="top.executed = 1"><script>top.executed = 1</script></svg>',
  '<body onload="top.executed = 1" onpageshow="top.executed = 1">',
  '<iframe srcdoc="<script>top.executed = 1</script>"></iframe>',
  '<iframe src="javascript:top.executed = 1"></iframe>',
  '<object data="data:text/html,<script>top.executed=1</script>"></object>',
  '<embed src="data:text/html,<script>top.executed=1</script>">',
  '<meta http-equiv="refresh" content="0;url=javascript:top.executed=1">',
  '<form action="/dashboard/sign-out" method="post"><input autofocus onfocus="top.executed = 1"></form>',
  '<base href="https://evil.example/"><link rel="stylesheet" href="/a.css">',
  "<style>@import url(https://evil.example/a.css); body { background: url(https://evil.example/b.png) }</style>",
  '<video src="x" onerror="top.executed = 1"></video><details open ontoggle="top.executed = 1">x</details>',
  "</iframe></div><script>top.executed = 1</script>",
];
