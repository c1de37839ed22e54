"use strict";

/* What a page does by itself: it says how long ago things were, keeps up to date, and filters rows.
   Everything is readable without. Rows come as HTML from the pages that have them: nothing is put
   into words twice. */

(() => {
  const [POLL_MS, TICK_MS, PATIENCE_MS, RETRY_MS, TYPING_MS] = [15_000, 5_000, 10_000, 2_000, 200];
  const AT_ONCE = 4; // requests
  const [MOST_DAYS, MOST_ROWS] = [31, 20_000]; // of a range
  const MOST_SHOWN = 1_000;

  const byId = (id) => document.getElementById(id);

  // The server of a simulated world says what time it is there, and how fast it passes.
  let world = { time: 0, read: 0, speed: 1 };
  const now = () => world.time + (Date.now() - world.read) * world.speed;

  async function get(address) {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    // Always asked for, but not sent again if it is the same.
    const response = await fetch(address, { cache: "no-cache", signal });
    const [time, speed] = (response.headers.get("Simulated-Time") || "").split(" ");
    if (speed) world = { time: Date.parse(time), read: Date.now(), speed: Number(speed) };
    if (!response.ok) throw new Error(`${address}: ${response.status}`);
    return response;
  }

  const getJson = async (address) => (await get(address)).json();
  const getPage = async (address) =>
    new DOMParser().parseFromString(await (await get(address)).text(), "text/html");

  // Times -------------------------------------------------------------------------------------

  const age = (time) => (now() - Date.parse(time)) / 1000;
  const clock = (time) =>
    `${age(time) > 86_400 ? `${time.slice(0, 10)} ` : ""}${time.slice(11, 19)} UTC`;

  function span(seconds) {
    const whole = Math.max(0, Math.floor(seconds));
    if (whole < 60) return `${whole} s`;
    if (whole < 3600) return `${Math.floor(whole / 60)} min`;
    const hours = Math.floor(whole / 3600);
    if (hours < 10) return `${hours} h ${Math.floor((whole % 3600) / 60)} min`;
    if (hours < 48) return `${hours} h`;
    return `${Math.floor(whole / 86_400)} days`;
  }

  function tick() {
    for (const time of document.querySelectorAll("time[data-ago]")) {
      const words = `${span(age(time.dateTime))} ago`;
      if (time.dataset.rel !== words) time.dataset.rel = words;
    }
    for (const time of document.querySelectorAll("time[data-for]")) {
      const words = span(age(time.dateTime));
      if (time.firstChild.data !== words) time.firstChild.data = words;
    }
    warn();
  }

  // Health ------------------------------------------------------------------------------------

  let health = null;
  let failures = 0; // to fetch it, in a row

  /* What is wrong, the worst first. Moments, not ages: a warning is read out when it changes. */
  function trouble() {
    if (failures > 1) return "The site cannot be reached: what you see may be old.";
    if (!health) return "";
    const limit = health.stale_after_seconds;
    const old = (time) => time && age(time) - age(health.as_of) > limit; // when it was published
    const { as_of: at, last_worked_at: worked } = health;
    if (age(at) > limit) return `Nothing was published since ${clock(at)}: what you see is old.`;
    const since = worked ? ` Runs last did their work at ${clock(worked)}.` : "";
    const { last_run: run, boards_observed_at: listed } = health;
    if (run && run.status === "failed") return `The last run failed.${since}`;
    if (old(worked)) return `Runs do not get their work done.${since}`;
    return old(listed) ? `The boards could not be listed since ${clock(listed)}.` : "";
  }

  function warn() {
    const warning = byId("warning");
    const words = trouble();
    if (warning.textContent !== words) warning.textContent = words;
    warning.hidden = !words;
  }

  async function look() {
    try {
      const found = await getJson("/health.json");
      if (Number.isNaN(Date.parse(found.as_of))) throw new Error("no time in it");
      health = found;
      failures = 0;
    } catch {
      failures += 1;
      if (failures === 1) setTimeout(poll, RETRY_MS); // Once is nothing to be alarmed about.
    }
    tick();
  }

  // Refreshing --------------------------------------------------------------------------------

  const live = "live" in document.body.dataset;
  const received = new Map(); // part → its HTML as it was sent
  const known = new Map(); // id → the same of a child, with its element
  let seen = null; // as of when the page is up to date
  let busy = false;
  let takeRows = null; // whoever filters

  const partsOf = (page) => [...page.querySelectorAll("[data-part]")];
  const assetsOf = (page) =>
    [...page.querySelectorAll("link[rel=stylesheet], script[src]")]
      .map((each) => each.getAttribute("href") || each.getAttribute("src"))
      .join();

  /* The element that shows this already, if what was sent is the same. */
  function kept(child) {
    if (!child.id) return child;
    const html = child.outerHTML;
    const before = known.get(child.id);
    if (before && before.html === html) return before.element;
    known.set(child.id, { html, element: child });
    return child;
  }

  /* Only what differs is touched: the rest keeps its focus, and does not flicker. */
  function show(container, elements) {
    const wanted = new Set(elements);
    for (const child of [...container.childNodes]) if (!wanted.has(child)) child.remove();
    let place = container.firstElementChild;
    for (const element of elements) {
      if (element === place) place = place.nextElementSibling;
      else container.insertBefore(element, place);
    }
  }

  /* The same, keeping what somebody did to the elements that are replaced. */
  function showKeeping(container, elements) {
    const focusable = "a, button, input, select, summary, [tabindex]";
    const active = document.activeElement;
    const owner = container.contains(active) && active.closest("[id]");
    const place = owner && [...owner.querySelectorAll(focusable)].indexOf(active);
    const before = [...container.querySelectorAll("details[id], [tabindex][id]")].map(
      ({ id, open, scrollLeft }) => ({ id, open, scrollLeft }),
    );
    show(container, elements);
    for (const { id, open, scrollLeft } of before) {
      if (byId(id)) Object.assign(byId(id), open === undefined ? { scrollLeft } : { open });
    }
    const again = owner && document.activeElement !== active && byId(owner.id);
    if (again) (again.querySelectorAll(focusable)[place] || again).focus({ preventScroll: true });
  }

  /* Whether the part is up to date now. What somebody has selected is left alone for a while. */
  function patch(part, fresh) {
    const name = part.dataset.part;
    const html = fresh.innerHTML;
    if (received.get(name) === html) return true;
    const selection = getSelection();
    if (!selection.isCollapsed && selection.containsNode(part, true)) return false;
    received.set(name, html);
    const children = [...fresh.children].map(kept);
    if (name === "rows" && takeRows) takeRows(children);
    else showKeeping(part, children);
    return true;
  }

  async function refresh() {
    let fresh;
    try {
      fresh = await getPage(document.body.dataset.address);
    } catch {
      return; // Everything stays; once it is too old, that is said.
    }
    const parts = new Map(partsOf(fresh).map((part) => [part.dataset.part, part]));
    if (!parts.size) return; // It is none of ours: a network that wants a login, say.
    const assets = assetsOf(fresh);
    if (assets !== assetsOf(document)) {
      // A new version. Once only, should a cache have one page old and another new.
      if (history.state === assets) return;
      history.replaceState(assets, "");
      location.reload();
      return;
    }
    const filters = fresh.getElementById("filters");
    if (filters) Object.assign(byId("filters").dataset, filters.dataset);
    const done = partsOf(document).map(
      (part) => !parts.has(part.dataset.part) || patch(part, parts.get(part.dataset.part)),
    );
    if (health && done.every(Boolean)) {
      seen = health.as_of;
      const time = document.querySelector("#as-of time");
      time.dateTime = seen;
      time.firstChild.data = clock(seen);
    }
    tick();
  }

  async function poll() {
    if (document.hidden || busy) return;
    busy = true;
    try {
      await look();
      if (live && (failures || health.as_of !== seen)) await refresh();
    } finally {
      busy = false;
    }
  }

  // Filters -----------------------------------------------------------------------------------

  const HOW = "Write a day as 2026-11-18, or as -7d for seven days ago.";
  const isoDay = (ms) => new Date(ms).toISOString().slice(0, 10);
  const counted = (number) => number.toLocaleString("en");

  /* A day as YYYY-MM-DD; null if the text is none. */
  function dayOf(text) {
    const back = /^-(\d{1,4})d$/.exec(text);
    if (back) return isoDay(now() - Number(back[1]) * 86_400_000);
    const ms = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : NaN;
    return !Number.isNaN(ms) && isoDay(ms) === text ? text : null;
  }

  function setUpFilters(form) {
    const { list, day, page } = form.dataset;
    const fields = [...form.elements].filter((field) => field.name);
    const container = document.querySelector("[data-part=rows]");
    const nothing = byId("empty").textContent;
    let own = [...container.children];
    let loaded = { key: "own", rows: own, note: "" };
    let turn = 0; // whoever asked last is answered
    let typing = null;

    const value = (name) => (form.elements[name] ? form.elements[name].value.trim() : "");
    const asked = () => ["text", "status", "entity", "pool"].some(value);

    function range() {
      const wrong = [];
      for (const field of fields.filter((each) => ["start", "end"].includes(each.name))) {
        const bad = value(field.name) !== "" && dayOf(value(field.name)) === null;
        field.setAttribute("aria-invalid", bad);
        if (bad) wrong.push(`“${value(field.name)}” is not a day.`);
      }
      if (wrong.length) return { wrong: `${wrong.join(" ")} ${HOW}` };
      if (!value("start") && !value("end")) return null;
      const first = dayOf(value("start")) || "0000";
      const last = dayOf(value("end")) || isoDay(now());
      return first > last ? { wrong: "The first day is after the last." } : { first, last };
    }

    /* Where the rows are that are asked for. */
    function sourceOf(days) {
      if (days && days.wrong) return "wrong";
      if (!days && day) return "elsewhere"; // This page's day is not asked for any more.
      const here = !days || (days.first === day && days.last === day);
      if (here && !(asked() && Number(form.dataset.pages) > 1)) return "own";
      return days ? `${days.first} ${days.last}` : "live";
    }

    /* The pages that have them. */
    async function pagesOf(key, days) {
      const numbered = (count, rest) =>
        Array.from({ length: count }, (_, at) => `/${list}?${rest}page=${at + 1}`);
      if (key === "live") return { addresses: numbered(Number(form.dataset.pages), ""), note: "" };
      const there = (await getJson("/days.json")).days;
      const inside = there.filter((each) => each.day >= days.first && each.day <= days.last);
      let rows = 0;
      const few = inside.filter((each, at) => {
        rows += each[list].rows;
        return at < MOST_DAYS && (at === 0 || rows <= MOST_ROWS);
      });
      const left = few.length < inside.length;
      return {
        addresses: few.flatMap((each) =>
          numbered(each[list].pages, `start=${each.day}&end=${each.day}&`),
        ),
        note: left ? ` Only the last ${few.length} of ${inside.length} days were searched.` : "",
      };
    }

    const rowsOf = async (address) =>
      [...(await getPage(address)).querySelector("[data-part=rows]").children].map(kept);

    async function load(key, days, progress) {
      const rows = new Map(); // by id: a row may have moved to the next page meanwhile
      try {
        const { addresses, note } = await pagesOf(key, days);
        for (let at = 0; at < addresses.length; at += AT_ONCE) {
          progress(`Searching, ${at} of ${addresses.length} pages…`);
          const found = await Promise.all(addresses.slice(at, at + AT_ONCE).map(rowsOf));
          for (const row of found.flat()) if (!rows.has(row.id)) rows.set(row.id, row);
        }
        return { key, rows: [...rows.values()], note };
      } catch {
        // Not kept as an answer: the next refresh tries again.
        return { key: "", rows: [...rows.values()], note: " Some pages could not be fetched." };
      }
    }

    function matcher() {
      const words = value("text").toLowerCase().split(/\s+/).filter(Boolean);
      const [status, entity, pool] = ["status", "entity", "pool"].map(value);
      const has = (whole = "", part = "") => whole.toLowerCase().includes(part.toLowerCase());
      return (row) =>
        (!status || (row.dataset.status || "").split(" ").includes(status)) &&
        has(row.dataset.entity, entity) &&
        has(row.dataset.pool, pool) &&
        words.every((word) => has(row.textContent, word));
    }

    function display() {
      const matching = loaded.rows.filter(matcher());
      const searched = asked() || loaded.key !== "own";
      const all = counted(loaded.rows.length);
      const most = matching.length > MOST_SHOWN ? `, the first ${counted(MOST_SHOWN)} here` : "";
      const found = `${counted(matching.length)} of ${all} shown${most}.${loaded.note}`;
      showKeeping(container, matching.slice(0, MOST_SHOWN));
      byId("count").textContent = searched ? found : `${all} on this page`;
      byId("empty").hidden = matching.length > 0;
      byId("empty").textContent = searched ? "Nothing here matches." : nothing;
      if (byId("pager")) byId("pager").hidden = loaded.key !== "own";
      byId("clear").hidden = !fields.some((field) => field.value);
      suggest("accounts", "entity");
      suggest("pools", "pool");
      tick();
    }

    function suggest(id, name) {
      if (!byId(id)) return;
      const each = loaded.rows.flatMap((row) => (row.dataset[name] || "").split(" "));
      const values = [...new Set(each)].filter(Boolean).sort();
      if (byId(id).dataset.values === values.join()) return;
      byId(id).dataset.values = values.join();
      byId(id).replaceChildren(...values.map((one) => new Option(one, one)));
    }

    function query(paged) {
      const set = new URLSearchParams();
      for (const { name } of fields) if (value(name)) set.set(name, value(name));
      if (paged && page > 1) set.set("page", page);
      return `${set}` && `?${set}`;
    }

    async function apply(quietly = false) {
      clearTimeout(typing);
      const mine = (turn += 1);
      const days = range();
      const key = sourceOf(days);
      if (byId("f-wrong")) byId("f-wrong").textContent = (days && days.wrong) || "";
      if (key === "elsewhere") return void location.assign(`/${list}${query(false)}`);
      const address = location.pathname + query(key === "own") + location.hash;
      history.replaceState(history.state, "", address);
      if (key === "own") loaded = { key, rows: own, note: "" };
      else if (key !== "wrong" && key !== loaded.key) {
        const found = await load(key, days, (words) => {
          if (!quietly && mine === turn) byId("count").textContent = words;
        });
        if (mine !== turn) return undefined;
        loaded = found;
      }
      return display();
    }

    form.addEventListener("input", (event) => {
      clearTimeout(typing);
      // Half a date is no date.
      if (!["start", "end"].includes(event.target.name)) typing = setTimeout(apply, TYPING_MS);
    });
    form.addEventListener("change", () => apply());
    form.addEventListener("submit", (event) => event.preventDefault()); // A change came first.
    byId("clear").addEventListener("click", () => {
      for (const field of fields) field.value = "";
      fields[0].focus();
      apply();
    });
    takeRows = (rows) => {
      own = rows;
      // On the other pages something may have changed as well. Days are not asked for again.
      if (loaded.key === "live") loaded.key = "";
      apply(true);
    };

    const given = new URLSearchParams(location.search);
    for (const field of fields) if (given.has(field.name)) field.value = given.get(field.name);
    form.hidden = false;
    apply();
  }

  /* Which days there are is known to days.json only. */
  async function correctDays({ list, day }) {
    const there = (await getJson("/days.json")).days.filter((each) => each[list].pages);
    const older = there.find((each) => each.day < day);
    const newer = there.filter((each) => each.day > day).pop();
    for (const [link, found] of [[byId("day-older"), older], [byId("day-newer"), newer]]) {
      const address = found && `/${list}?start=${found.day}&end=${found.day}`;
      link.hidden = !found;
      if (!found || link.getAttribute("href") === address) continue;
      link.href = address;
      link.textContent = found === older ? `← ${found.day}` : `${found.day} →`;
    }
  }

  // Start -------------------------------------------------------------------------------------

  for (const part of partsOf(document)) {
    received.set(part.dataset.part, part.innerHTML);
    [...part.children].forEach(kept);
  }
  const form = byId("filters");
  if (form) setUpFilters(form);
  if (form && form.dataset.day) correctDays(form.dataset).catch(() => {});
  // The newest hours, and the end of a log, are looked for first.
  for (const each of document.querySelectorAll("[data-end]")) {
    each.scrollLeft = each.scrollWidth;
    if (!location.hash) each.scrollTop = each.scrollHeight;
  }
  tick();
  setInterval(tick, TICK_MS);
  const keepPolling = () =>
    poll().finally(() => setTimeout(keepPolling, Math.max(RETRY_MS, POLL_MS / world.speed)));
  keepPolling();
  document.addEventListener("visibilitychange", poll);
})();
