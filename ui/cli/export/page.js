"use strict";
(function () {
  var box = document.getElementById("search"), count = document.getElementById("count");
  var units = Array.prototype.slice.call(document.querySelectorAll("article, .note, details.call"));
  var folds = Array.prototype.slice.call(document.querySelectorAll("details.call"));
  var opened = folds.map(function (d) { return d.open; });

  // own is the text of a unit without that of the calls inside it.
  function own(unit) {
    var text = "";
    unit.childNodes.forEach(function (n) {
      if (!(n.matches && n.matches("details.call, article"))) text += n.textContent + "\n";
    });
    return text.toLowerCase();
  }
  var texts = units.map(own);

  function unmark() {
    document.querySelectorAll("mark").forEach(function (m) {
      var p = m.parentNode;
      p.replaceChild(document.createTextNode(m.textContent), m);
      p.normalize();
    });
  }
  function mark(unit, words) {
    var walker = document.createTreeWalker(unit, NodeFilter.SHOW_TEXT), nodes = [], n;
    while ((n = walker.nextNode())) nodes.push(n);
    nodes.forEach(function (node) {
      var lower = node.textContent.toLowerCase();
      words.some(function (w) {
        var at = lower.indexOf(w);
        if (at < 0 || lower.length !== node.textContent.length) return false;
        var hit = node.splitText(at);
        hit.splitText(w.length);
        var m = document.createElement("mark");
        m.textContent = hit.textContent;
        hit.parentNode.replaceChild(m, hit);
        return true;
      });
    });
  }
  function search() {
    var words = box.value.toLowerCase().split(/\s+/).filter(Boolean), hits = 0;
    unmark();
    if (words.length === 0) {
      units.forEach(function (u) { u.classList.remove("hidden"); });
      folds.forEach(function (d, i) { d.open = opened[i]; });
      count.textContent = "";
      return;
    }
    units.forEach(function (u) { u.classList.add("hidden"); });
    units.forEach(function (u, i) {
      if (!words.every(function (w) { return texts[i].indexOf(w) >= 0; })) return;
      hits++;
      for (var p = u; p && p.classList; p = p.parentNode) {
        p.classList.remove("hidden");
        if (p.tagName === "DETAILS") p.open = true;
      }
      mark(u, words);
    });
    count.textContent = hits + " found";
  }
  box.addEventListener("input", search);
  box.form.addEventListener("submit", function (e) { e.preventDefault(); });
  document.getElementById("unfold").addEventListener("click", function () { folds.forEach(function (d) { d.open = true; }); });
  document.getElementById("fold").addEventListener("click", function () { folds.forEach(function (d) { d.open = false; }); });
  document.getElementById("theme").addEventListener("click", function () {
    var root = document.documentElement, dark = matchMedia("(prefers-color-scheme: dark)").matches;
    var now = root.dataset.theme || (dark ? "dark" : "light");
    root.dataset.theme = now === "dark" ? "light" : "dark";
  });
  // A link from a timeline opens the call it leads to.
  function follow() {
    var to = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (var p = to; p; p = p.parentNode) if (p.tagName === "DETAILS") p.open = true;
    if (to) to.scrollIntoView();
  }
  addEventListener("hashchange", follow);
  follow();
  document.documentElement.dataset.ready = "yes";
})();
