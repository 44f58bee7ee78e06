const NEAR = 80;

/**
 * Keeps the end of a growing list in view while the person has scrolled to it, but never scrolls the top of the newest
 * part out of view: a long form is read from its title. Returns a function that scrolls to the end.
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
  // Without this the keyboard cannot scroll it in every browser.
  scroller.tabIndex = 0;
  // Cards render later than the message that contains them.
  const observer = new ResizeObserver(follow);
  for (const one of [scroller, list]) observer.observe(one);
  return () => {
    following = true;
    follow();
  };
}
