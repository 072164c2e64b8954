"""What every page must have, as scripts that a browser runs on it; each returns what is wrong, [] if nothing is."""

UNLABELLED = """() => [...document.querySelectorAll('input:not([type=hidden]):not([hidden]), select, textarea')]
  .filter(each => !each.labels.length && !each.getAttribute('aria-label')).map(each => each.name)"""
"""Fields without a label."""

TWICE = """() => { const ids = [...document.querySelectorAll('[id]')].map(each => each.id);
  return ids.filter((each, place) => ids.indexOf(each) !== place); }"""
"""Identifiers that two elements have."""

PALE = """() => {
  const parts = text => text.match(/[\\d.]+/g).map(Number);
  const linear = v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => .2126 * linear(r / 255) + .7152 * linear(g / 255) + .0722 * linear(b / 255);
  const ground = start => {
    for (let each = start; each; each = each.parentElement) {
      const colour = parts(getComputedStyle(each).backgroundColor);
      if (colour.length < 4 || colour[3] > 0) return colour;
    }
    return [255, 255, 255];
  };
  const found = [];
  for (const each of document.querySelectorAll('main *, header *, footer *')) {
    const own = [...each.childNodes].some(node => node.nodeType === 3 && node.textContent.trim());
    if (!own || each.closest('svg, .stale') || !each.checkVisibility()) continue;
    const a = light(parts(getComputedStyle(each).color)), b = light(ground(each));
    const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    if (ratio < 4.5) found.push([each.tagName, each.textContent.trim().slice(0, 30), ratio.toFixed(2)]);
  }
  return found; }"""
"""Texts whose contrast with their ground is below 4.5 : 1 (WCAG 2, level AA)."""

WIDTH = "document.documentElement.scrollWidth"
