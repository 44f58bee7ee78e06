const NEAR = 80;

/**
 * Keeps the end of a growing list in sight while its reader is there, but never scrolls the newest part out of sight at
 * its top: a long form is read from its title on. Returns how to go back to the end.
 */
export function followEnd(scroller, list, newestPart) {
  let following = true;

  function follow() {
    if (!following) return;
    const end = scroller.scrollHeight - scroller.clientHeight;
    const part = newestPart();
    const top = part ? part.getBoundingClientRect().top - scroller.getBoundingClientRect().top : end;
    scroller.scrollTop = Math.min(end, scroller.scrollTop + top - 16);
  }

  scroller.addEventListener('scroll', () => {
    following = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < NEAR;
  });
  // Whoever scrolls with keys must be able to get here, in every browser.
  scroller.tabIndex = 0;
  // Cards render by themselves, after whoever put them there.
  const observer = new ResizeObserver(follow);
  for (const one of [scroller, list]) observer.observe(one);
  return () => {
    following = true;
    follow();
  };
}
