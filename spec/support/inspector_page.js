// Uses the page of the inspector as somebody with a browser does: node inspector_page.js LINK. Needs
// puppeteer-core and chromium. Each step that holds is a line "ok ..."; the first that does not ends
// the program. Its status is 3 where the browser does not start.
"use strict";
const puppeteer = require("puppeteer-core");
const link = process.argv[2], chromium = process.env.CHROMIUM || "/usr/bin/chromium";

(async () => {
  const browser = await puppeteer.launch({ executablePath: chromium, headless: "new", timeout: 180000,
    args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"] }).catch(problem => {
    console.log(problem.message);
    process.exit(3);
  });
  const page = await browser.newPage();
  page.setDefaultTimeout(60000);
  const problems = [];
  page.on("pageerror", problem => problems.push(problem.message));
  page.on("console", message => {
    if (message.type() === "error" && !/favicon/.test(message.location().url || ""))
      problems.push(message.text());
  });
  page.on("request", request => {
    if (!request.url().startsWith(link.split("#")[0])) problems.push("asked " + request.url());
  });
  const text = id => page.$eval("#" + id, node => node.textContent);
  const wait = (condition, ...rest) => page.waitForFunction(condition, { timeout: 30000 }, ...rest)
    .catch(problem => { throw new Error(`${problem.message}: ${condition} ${rest}`); });
  const field = label => page.evaluateHandle(name => [...document.querySelectorAll("#entity label")]
    .filter(l => l.textContent === name).map(l => document.getElementById(l.htmlFor))[0], label);
  const holds = (label, wanted) => wait((name, given) => [...document.querySelectorAll("#entity label")]
    .some(l => l.textContent === name && document.getElementById(l.htmlFor).value === given), label, wanted)
    .catch(() => { throw new Error(label + " does not become " + wanted); });
  // Finds and clicks at once: lists are drawn again at any time.
  const click = (selector, start) => wait((given, beginning) => {
    const found = [...document.querySelectorAll(given)].find(b => b.textContent.startsWith(beginning));
    found?.click();
    return !!found;
  }, selector, start);
  const step = async (name, go) => {
    await go();
    if (problems.length) throw new Error(problems.join("; "));
    console.log("ok " + name);
  };
  const query = async given => {
    await page.click("#query", { clickCount: 3 });
    await page.type("#query", given);
    await page.keyboard.press("Enter");
  };
  try {
    await page.setViewport({ width: 1280, height: 800 });
    await step("opens, and takes the token out of the address", async () => {
      await page.goto(link);
      await wait(() => document.querySelectorAll("#rows tbody tr").length > 10);
      if (page.url().includes("#")) throw new Error("the token is shown");
    });
    await step("queries, and shows the world's own errors", async () => {
      await query("Positon");
      await wait(() => /did you mean 'Position'/.test(document.getElementById("query-error").textContent));
      await query("Position, Label");
      await wait(() => document.getElementById("count").textContent.startsWith("51 match"));
    });
    await step("completes names", async () => {
      await page.click("#query", { clickCount: 3 });
      await page.type("#query", "Hea");
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Enter");
      await wait(() => document.getElementById("query").value === "Health");
    });
    await step("shows an entity named like markup as text", async () => {
      await query("Position, Label");
      await click("#rows button", "hero");
      await wait(() => document.querySelector("#entity h2")?.textContent.startsWith("hero <img"));
      await wait(() => document.querySelectorAll("#entity label").length >= 4);
      if (await page.$("img")) throw new Error("markup was taken as markup");
      if (await page.title() !== "ecs inspector") throw new Error("markup has run");
    });
    await step("edits a value, and undoes it", async () => {
      const hp = await field("hp");
      await hp.click({ clickCount: 3 });
      await hp.type("42");
      await page.keyboard.press("Enter");
      await wait(() => /set Health.hp/.test(document.getElementById("message").textContent));
      await wait(() => !document.getElementById("undo").disabled);
      await holds("hp", "42");
      await page.evaluate(() => document.activeElement.blur());
      await page.click("#undo");
      await wait(() => /undone/.test(document.getElementById("message").textContent));
      await holds("hp", "100");
    });
    await step("pauses and steps", async () => {
      await page.click("#pause");
      await wait(() => /paused/.test(document.getElementById("facts").textContent));
      await new Promise(r => setTimeout(r, 300));
      const before = /(\d+) updates/.exec((await text("facts")).replace(/,/g, ""))[1];
      await page.click("#step");
      await wait(n => /(\d+) updates/.exec(document.getElementById("facts").textContent
        .replace(/,/g, ""))[1] === String(Number(n) + 1), before);
      await page.click("#pause");
      await wait(() => !/paused/.test(document.getElementById("facts").textContent));
    });
    await step("switches a system off", async () => {
      await page.click("#tab-systems");
      await wait(() => document.querySelector('#systems input[aria-label="drift runs"]'));
      await page.click('#systems input[aria-label="drift runs"]');
      await wait(() => /switch drift off/.test(document.getElementById("message").textContent));
      await wait(() => !document.getElementById("undo").disabled);
      await page.click("#undo");
      await wait(() => document.querySelector('#systems input[aria-label="drift runs"]').checked);
    });
    await step("shows storage", async () => {
      await page.keyboard.press("Tab");
      await page.focus("#tab-systems");
      await page.keyboard.press("ArrowRight");
      await wait(() => document.querySelectorAll("#tables tbody tr").length > 1);
    });
    await step("selects an entity on the map", async () => {
      await page.click("#tab-map");
      await wait(() => /shown/.test(document.getElementById("map-count").textContent));
      await page.focus("#map");
      await page.keyboard.press("n");
      await wait(() => document.querySelector("#map-entity h2"));
    });
    await step("goes back", async () => {
      await page.click("#tab-time");
      await click("#ring tbody tr:last-child button", "");
      await wait(() => /went back/.test(document.getElementById("message").textContent));
    });
    await step("shows a script's error", async () => {
      await page.click("#tab-scripts");
      await wait(() => /is not right/.test(document.getElementById("script-error").textContent));
      if (await page.$("img")) throw new Error("markup was taken as markup");
    });
    // ---- by the keyboard alone ----
    const press = async (...keys) => { for (const key of keys) await page.keyboard.press(key); };
    // Presses Tab, and waits until the focus has moved: a busy browser says first that it has the key.
    const tab = async () => {
      await page.evaluate(() => {
        window.moved = new Promise(done => ["focusin", "focusout"].forEach(kind =>
          document.addEventListener(kind, done, { once: true })));
      });
      await press("Tab");
      await page.evaluate(() => Promise.race([window.moved, new Promise(done => setTimeout(done, 2000))]));
    };
    // Tab until what has the focus has an id, or a name for screen readers that a pattern fits.
    const reach = async name => {
      for (let i = 0; i < 300; i++) {
        const there = await page.evaluate(wanted => {
          const node = document.activeElement;
          const called = node.ariaLabel || node.labels?.[0]?.textContent || node.textContent;
          return wanted[0] === "#" ? "#" + node.id === wanted
            : node !== document.body && new RegExp("^(" + wanted + ")$").test(called.trim());
        }, name);
        if (there) return;
        await tab();
      }
      throw new Error("the Tab key does not lead to " + name);
    };
    const chord = async (held, key) => {
      await page.keyboard.down(held);
      await press(key);
      await page.keyboard.up(held);
    };
    const retype = async (name, given) => {
      await reach(name);
      await chord("Control", "a");
      await page.keyboard.type(given);
    };
    const told = pattern => wait(p => new RegExp(p).test(document.getElementById("message").textContent), pattern);
    const shows = (panel, title) => wait((p, t) => document.querySelector(`#${p} h2`)?.textContent.startsWith(t) &&
      document.getElementById(p).contains(document.activeElement), panel, title);
    const view = async (name, at) => {
      await reach("#tab-" + await page.$eval('#tabs [aria-selected="true"]', tab => tab.id.slice(4)));
      await press("Home", ...Array(at).fill("ArrowRight"));
      await wait(tab => document.activeElement.id === "tab-" + tab &&
        document.activeElement.ariaSelected === "true", name);
    };
    const hero = async () => {
      await reach("hero.*");
      await press("Enter");
      await shows("entity", "hero");
      await wait(() => document.querySelectorAll("#entity label").length >= 7);
    };
    await step("keeps the token when it is loaded again, and changes views by keys", async () => {
      await page.reload();
      await wait(() => document.querySelectorAll("#rows tbody tr").length > 10);
      await press("Tab");
      await view("entities", 0);
      await press("End");
      await wait(() => document.activeElement.id === "tab-scripts");
      await press("ArrowRight");
      await wait(() => document.activeElement.id === "tab-entities");
      await press("ArrowLeft", "Home");
    });
    await step("queries and completes by keys", async () => {
      await retype("Query", "Lab");
      await wait(() => !document.getElementById("query-choices").hidden);
      await press("Escape");
      await wait(() => document.getElementById("query-choices").hidden);
      await retype("Query", "Position, Lab");
      await wait(() => !document.getElementById("query-choices").hidden);
      await press("ArrowDown", "Enter", "Enter");
      await wait(() => document.getElementById("count").textContent.startsWith("51 match"));
    });
    await step("spawns by keys", async () => {
      await reach("What to spawn");
      await page.keyboard.type("Orc");
      await press("Tab", "Enter");
      await told("^spawn ");
      await wait(() => document.querySelectorAll("#entity label").length === 1);
    });
    await step("edits numbers, names, switches, texts and entities by keys", async () => {
      await hero();
      await retype("hp", "77");
      await press("Escape");
      await holds("hp", "100");
      await retype("hp", "42");
      await press("Enter");
      await told("^set Health.hp");
      await retype("text", "plain");
      await press("Enter");
      await told("^set Label.text");
      await reach("kind");
      await press("ArrowDown");
      await told("^set Mind.kind");
      await reach("awake");
      await press("Space");
      await told("^set Mind.awake");
      await retype("friend", "pal");
      await press("Enter");
      await told("^set Mind.friend");
      for (const [label, wanted] of [["hp", "42"], ["text", "plain"], ["kind", "wild"]])
        await holds(label, wanted);
    });
    await step("follows entities, ties and children by keys", async () => {
      await wait(() => !document.querySelector('#entity [aria-label="Go to friend"]').hidden);
      await reach("Go to friend");
      await press("Enter");
      await shows("entity", "pal");
      await hero();
      await reach("Component to add");
      await page.keyboard.type("Likes");
      await press("Tab");
      await page.keyboard.type("pal");
      await press("Tab", "Enter");
      await told("^add Likes");
      await wait(() => [...document.querySelectorAll("#entity li button")].some(b => b.textContent.startsWith("pal")));
      await reach("pal .*");
      await press("Enter");
      await shows("entity", "pal");
      await hero();
      await wait(() => [...document.querySelectorAll("#entity li button")].some(b => b.textContent.startsWith("hat")));
      await reach("hat .*");
      await press("Enter");
      await shows("entity", "hat");
    });
    await step("adds and removes by keys, and stays in the panel", async () => {
      await hero();
      await reach("Component to add");
      await page.keyboard.type("Frozen");
      await press("Tab", "Enter");
      await told("^add Frozen");
      await wait(() => document.querySelector('#entity [aria-label="Remove Frozen"]'));
      await reach("Remove Frozen");
      await press("Enter");
      await told("^remove Frozen");
      await wait(() => !document.querySelector('#entity [aria-label="Remove Frozen"]'));
      await shows("entity", "hero");
    });
    await step("undoes all that by keys", async () => {
      await reach("Undo");
      for (const title of ["remove Frozen", "add Frozen", "add Likes", "set Mind.friend", "set Mind.awake",
        "set Mind.kind", "set Label.text", "set Health.hp", "spawn"]) {
        await press("Enter");
        await told("^undone: " + title);
      }
      await wait(() => document.getElementById("undo").disabled);
      await hero();
      await holds("hp", "100");
    });
    await step("despawns by keys, and undoes it", async () => {
      await reach("Despawn");
      await press("Enter");
      await told("^despawn hero");
      await wait(() => document.activeElement.id === "entity" && /dead/.test(document.activeElement.textContent));
      await reach("Undo");
      await press("Enter");
      await told("^undone: despawn");
      await wait(() => document.querySelector("#entity h2")?.textContent.startsWith("hero"));
    });
    await step("switches, explains and resets by keys", async () => {
      await view("systems", 1);
      await wait(() => document.querySelector('#systems input[aria-label="drift runs"]'));
      for (const name of ["update", "drift"]) {
        await reach(name + " runs");
        for (const now of ["off", "on"]) {
          await press("Space");
          await told(`^switch ${name} ${now}`);
        }
      }
      await reach("drift");
      await press("Enter");
      await shows("explain", "drift");
      await wait(() => document.querySelector("#explain pre"));
      await tab();
      if (await page.evaluate(() => document.activeElement.tagName) !== "PRE") throw new Error("no program");
      await reach("Reset counters");
      await press("Enter");
      await told("^reset_counters");
    });
    await step("scrolls storage by keys", async () => {
      await view("storage", 2);
      await reach("Tables");
      await reach("Other storage");
    });
    await step("pauses by the keyboard", async () => {
      await reach("#pause");
      await press("Space");
      await wait(() => /paused/.test(document.getElementById("facts").textContent));
      await press("Enter");
      await wait(() => !/paused/.test(document.getElementById("facts").textContent));
      await press("Enter");
      await wait(() => /paused/.test(document.getElementById("facts").textContent));
    });
    await step("draws, pans, zooms and chooses on the map by keys", async () => {
      await view("map", 3);
      await retype("Query of the map", "Position, Label, Health");
      await press("Enter");
      for (const [name, given] of [["x", "Health.hp"], ["y", "Position.x"], ["colour", "Position.y"],
        ["size", "Health.hp"]]) {
        await reach(name + " .*");
        await page.keyboard.type(given);
        await wait((id, v) => document.getElementById(id).value === v, "map-" + name[0], given);
      }
      await wait(() => document.getElementById("map-count").textContent === "51 shown");
      await reach("Fit");
      await press("Enter");
      await reach("Follow the selected entity");
      await press("Space");
      await wait(() => document.getElementById("follow").checked);
      await press("Space");
      await reach("Map");
      const picture = () => page.$eval("#map", canvas => canvas.toDataURL());
      for (const key of ["ArrowLeft", "ArrowUp", "+", "ArrowRight", "-", "ArrowDown"]) {
        const before = await picture();
        await press(key);
        if (before === await picture()) throw new Error(key + " changes nothing");
      }
      const title = () => page.$eval("#map-entity", panel => panel.textContent);
      const chosen = [];
      for (const key of ["n", "n", "p"]) {
        await press(key);
        await wait(last => { const h = document.querySelector("#map-entity h2");
          return h && h.textContent !== last; }, chosen[chosen.length - 1] || "");
        chosen.push(await page.$eval("#map-entity h2", h => h.textContent));
      }
      if (chosen[0] !== chosen[2]) throw new Error("P leads to " + await title());
    });
    await step("runs, steps, sets the speed and goes back by keys", async () => {
      await view("time", 4);
      const updates = () => page.$eval("#facts", f => Number(/(\d+) updates/.exec(f.textContent.replace(/,/g, ""))[1]));
      const before = await updates();
      await reach("#step2");
      await press("Enter");
      await wait(n => document.getElementById("facts").textContent.replace(/,/g, "").includes(` ${n} updates`), before + 1);
      await reach("#pause2");
      await press("Enter");
      await wait(() => !/paused/.test(document.getElementById("facts").textContent));
      await reach("Speed .*");
      await page.keyboard.type("2");
      await wait(() => /speed 2/.test(document.getElementById("facts").textContent));
      await reach("Go back to this");
      await press("Enter");
      await told("^went back");
    });
    await step("reloads by keys", async () => {
      await view("scripts", 5);
      await reach("Reload now");
      await press("Enter");
      await told("is not right");
      await reach("<|.*is not right[^]*");
    });
    await step("has every control of every view under the Tab key", async () => {
      const full = { entities: "#rows td", systems: "#systems td", storage: "#tables td", map: "#map-count:not(:empty)",
        time: "#ring td", scripts: "#script-error pre" };
      for (const [at, name] of Object.keys(full).entries()) {
        await view(name, at);
        await wait(selector => document.querySelector(selector), full[name]);
        await page.evaluate(() => {
          window.wanted = new Set([...document.querySelectorAll("button, input, select, textarea, a[href], canvas, [role=region]")]
            .filter(n => n.checkVisibility() && !n.disabled && n.tabIndex >= 0));
        });
        // Lists fill up meanwhile: how many keys it takes is not known beforehand.
        let missed = [name];
        for (let i = 0; i < 300 && missed.length; i++) {
          missed = await page.evaluate(() => {
            window.wanted.delete(document.activeElement);
            return [...window.wanted].filter(n => n.isConnected && !n.disabled).map(n => n.outerHTML.slice(0, 80));
          });
          if (missed.length) await tab();
        }
        if (missed.length) throw new Error(name + ": " + missed.join(" "));
      }
    });
  } catch (problem) {
    console.log("not ok " + problem.message + (problems.length ? ": " + problems.join("; ") : ""));
  }
  await browser.close();
})();
