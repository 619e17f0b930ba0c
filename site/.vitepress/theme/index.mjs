import Theme from "vitepress/theme-without-fonts";
import { keepTabs } from "./tabs.mjs";
import "./style.css";

export default {
  extends: Theme,
  enhanceApp: ({ router }) => {
    if (typeof document !== "undefined") keepTabs(router);
  },
};
