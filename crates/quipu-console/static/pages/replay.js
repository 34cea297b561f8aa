// Replay.

import { empty } from "../widgets.js";

/** @type {import("../app.js").Page} */
export const page = {
  title: "Replay",
  lead: "",
  show({ root }) {
    root.append(empty("Not here yet", "This page is being built."));
  },
};
