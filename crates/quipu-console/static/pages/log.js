// Log and operations: the commits as they land, and what an operator does.

import { may } from "../api.js";
import { h } from "../dom.js";
import { href } from "../router.js";
import { empty } from "../widgets.js";
import { showCommit, showCommits } from "./log/commits.js";
import { showCompaction } from "./log/compaction.js";
import { showKeys } from "./log/keys.js";
import { showSessions, showSubscriptions } from "./log/listening.js";
import { showVerify } from "./log/verify.js";

/** @typedef {{ id: string, name: string, authority: number, show: (context: import("../app.js").Context) => void | Promise<void> }} Tab */

/** @type {Tab[]} */
const TABS = [
  { id: "commits", name: "Commits", authority: 8, show: showCommits },
  { id: "verify", name: "Verify", authority: 8, show: showVerify },
  { id: "keys", name: "Keys", authority: 10, show: showKeys },
  { id: "sessions", name: "Sessions", authority: 2, show: showSessions },
  { id: "subscriptions", name: "Subscriptions", authority: 8, show: showSubscriptions },
  { id: "compaction", name: "Compaction", authority: 6, show: showCompaction },
];

/** @type {import("../app.js").Page} */
export const page = {
  title: "Log & operations",
  lead: "Every change is a commit, chained to the one before. Watch them land, check the chain, and look after keys, sessions and storage.",
  async show(context) {
    const { root, route } = context;
    const tabs = TABS.filter((tab) => may(tab.authority));
    const [position] = route.args;
    const chosen = tabs.find((tab) => tab.id === route.query.get("tab")) ?? tabs[0];
    if (!chosen) {
      root.append(empty("Nothing for this key", "The log is read with authority 8, sessions with 2."));
      return;
    }
    const current = position ? "commits" : chosen.id;
    root.append(h("div", { class: "tabs" }, tabs.map((tab) =>
      h("a", { href: href("log", [], { tab: tab.id }), "aria-current": tab.id === current ? "page" : null }, tab.name))));
    if (position && may(8)) await showCommit(context, Number(position));
    else await chosen.show(context);
  },
};
