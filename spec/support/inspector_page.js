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
  const wait = (condition, ...rest) => page.waitForFunction(condition, { timeout: 30000 }, ...rest);
  const field = label => page.evaluateHandle(name => [...document.querySelectorAll("#entity label")]
    .filter(l => l.textContent === name).map(l => document.getElementById(l.htmlFor))[0], label);
  const value = async label => (await field(label)).evaluate(node => node.value);
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
      await wait(() => [...document.querySelectorAll("#rows button")].some(b => b.textContent.startsWith("hero")));
      await page.evaluate(() => [...document.querySelectorAll("#rows button")]
        .find(b => b.textContent.startsWith("hero")).click());
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
      if (await value("hp") !== "42") throw new Error("it is " + await value("hp"));
      await page.evaluate(() => document.activeElement.blur());
      await page.click("#undo");
      await wait(() => /undone/.test(document.getElementById("message").textContent));
      for (let i = 0; i < 40 && await value("hp") !== "100"; i++) await new Promise(r => setTimeout(r, 100));
      if (await value("hp") !== "100") throw new Error("it is " + await value("hp"));
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
      await wait(() => document.querySelectorAll("#ring tbody tr").length > 0);
      await page.evaluate(() => document.querySelector("#ring tbody tr:last-child button").click());
      await wait(() => /went back/.test(document.getElementById("message").textContent));
    });
    await step("shows a script's error", async () => {
      await page.click("#tab-scripts");
      await wait(() => /is not right/.test(document.getElementById("script-error").textContent));
      if (await page.$("img")) throw new Error("markup was taken as markup");
    });
    await step("has every control of every view under the Tab key", async () => {
      for (const view of ["entities", "systems", "storage", "map", "time", "scripts"]) {
        await page.focus('#tabs [aria-selected="true"]');
        await page.keyboard.press("Home");
        for (let i = 0; i < 6 && !await page.$("#tab-" + view + '[aria-selected="true"]'); i++)
          await page.keyboard.press("ArrowRight");
        await wait(name => document.getElementById("tab-" + name).ariaSelected === "true", view);
        await new Promise(r => setTimeout(r, 700));
        const count = await page.evaluate(() => {
          window.wanted = new Set([...document.querySelectorAll("button, input, select, textarea, a[href], canvas")]
            .filter(n => n.checkVisibility() && !n.disabled && n.tabIndex >= 0));
          document.activeElement.blur();
          return window.wanted.size;
        });
        for (let i = 0; i < count + 20; i++) {
          await page.keyboard.press("Tab");
          await page.evaluate(() => window.wanted.delete(document.activeElement));
        }
        const left = await page.evaluate(() => [...window.wanted].filter(n => n.isConnected && !n.disabled)
          .map(n => n.outerHTML.slice(0, 80)));
        if (left.length) throw new Error(view + ": " + left.join(" "));
      }
    });
    await step("pauses by the keyboard", async () => {
      await page.focus("#pause");
      await page.keyboard.press("Space");
      await wait(() => /paused/.test(document.getElementById("facts").textContent));
      await page.keyboard.press("Enter");
      await wait(() => !/paused/.test(document.getElementById("facts").textContent));
    });
  } catch (problem) {
    console.log("not ok " + problem.message + (problems.length ? ": " + problems.join("; ") : ""));
  }
  await browser.close();
})();
