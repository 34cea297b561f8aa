// One setting of "what would this agent be given?": what it is made of, its place in the URL, and the question that it
// becomes.

/**
 * @typedef {object} Setting
 * @property {string} agent
 * @property {string} session
 * @property {string} role
 * @property {string} hint
 * @property {string} interests separated by commas
 * @property {string} units
 * @property {string} tokens
 * @property {string} epoch
 */

/** @type {(keyof Setting)[]} */
export const NAMES = ["agent", "session", "role", "hint", "interests", "units", "tokens", "epoch"];
const UNITS = 10;
/** How many units further down are looked at, to show what was cut. */
const BEYOND = 20;

/** @param {URLSearchParams} query @param {string} prefix `` for the first setting, `b.` for the second @returns {Setting} */
export function readSetting(query, prefix) {
  const read = (/** @type {string} */ name) => query.get(prefix + name) ?? "";
  return /** @type {Setting} */ (Object.fromEntries(NAMES.map((name) => [name, read(name)])));
}

/** @param {Setting} setting @param {string} prefix @returns {Record<string, string>} */
export const toQuery = (setting, prefix) => Object.fromEntries(NAMES.map((name) => [prefix + name, setting[name]]));

/** @param {string} text */
const whole = (text) => (/^\d+$/.test(text.trim()) ? Number(text) : undefined);

/**
 * The payload of ATTUNE. `preview` asks for no trace: nobody is shown anything. Explanations would count for the
 * budget, so a preview has them from its second question.
 * @param {Setting} setting
 * @param {string} role where the setting names none
 * @param {boolean} preview
 */
export function question(setting, role, preview) {
  const interests = setting.interests.split(",").map((text) => text.trim()).filter(Boolean);
  return {
    scope: {
      role: setting.role || role,
      max_units: whole(setting.units) || UNITS,
      ...(preview ? { preview } : { explain: true }),
      ...(whole(setting.tokens) ? { max_tokens: whole(setting.tokens) } : {}),
      ...(interests.length > 0 ? { interests } : {}),
      ...(whole(setting.epoch) === undefined ? {} : { as_of_epoch: whole(setting.epoch) }),
    },
    ...(setting.hint.trim() ? { context_hint: setting.hint } : {}),
  };
}

/** The same explained, without a budget, and further down. @param {ReturnType<typeof question>} asked */
export function unbounded(asked) {
  const { max_tokens: _, ...scope } = asked.scope;
  return { ...asked, scope: { ...scope, explain: true, max_units: scope.max_units + BEYOND } };
}

/**
 * @typedef {object} Ranked
 * @property {any} memory_unit
 * @property {number} relevance_score
 * @property {string} relevance_reason
 * @property {string} [format]
 * @property {{ factors: { factor: string, value: number, weight: number, contribution: number }[], diversity_discount: number }} [explanation]
 */

/**
 * What was left out, and why: too many tokens, or beyond the number of units.
 * @param {Ranked[]} given
 * @param {Ranked[]} all without a budget
 * @param {number} units
 * @returns {{ ranked: Ranked, rank: number, why: "tokens" | "units" }[]}
 */
export function cut(given, all, units) {
  const ids = new Set(given.map((ranked) => ranked.memory_unit.id));
  return all.flatMap((ranked, index) => {
    if (ids.has(ranked.memory_unit.id)) return [];
    return [{ ranked, rank: index + 1, why: index < units ? /** @type {const} */ ("tokens") : /** @type {const} */ ("units") }];
  });
}

/**
 * How each unit moved from one answer to another: places up (positive) or down, or null where it is new.
 * @param {Ranked[]} from
 * @param {Ranked[]} to
 * @returns {Map<string, number | null>}
 */
export function moves(from, to) {
  const places = new Map(from.map((ranked, index) => [ranked.memory_unit.id, index]));
  return new Map(to.map((ranked, index) => {
    const before = places.get(ranked.memory_unit.id);
    return [ranked.memory_unit.id, before === undefined ? null : before - index];
  }));
}
