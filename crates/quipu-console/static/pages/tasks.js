// Tasks: the list, one of them, its replay, the comparison with its source, its receipt.

import { may } from "../api.js";
import { compare } from "../task/compare.js";
import { taskDetail } from "../task/detail.js";
import { replayEditor } from "../task/editor.js";
import { taskList } from "../task/list.js";
import { WORK } from "../task/read.js";
import { receiptFromAnywhere, receiptOfTask } from "../task/receipt.js";

/** @type {import("../app.js").Page} */
export const page = {
  title: "Tasks",
  lead: "Recorded work. See what a Task consumed and what came of it, replay it with one answer changed, and check its receipt.",
  async show({ root, actions, route, signal }) {
    const [id, part] = route.args;
    if (!id) return taskList(root, signal);
    if (id === "receipt") return receiptFromAnywhere(root);
    if (part === "replay" && may(WORK)) return replayEditor(root, id, signal);
    if (part === "compare") return compare(root, actions, id, signal);
    if (part === "receipt") return receiptOfTask(root, id, signal);
    return taskDetail(root, actions, id, signal);
  },
};
