//! Counts the numbered lines of a flood in a stream of bytes, wherever the reads cut the stream.

use memchr::memmem::Finder;

/// The JSON that precedes the number of a line.
pub(crate) const MARK: &[u8] = b"\"seq\":\"";

/// Numbers have a fixed width, so that the stub can overwrite them in place.
pub(crate) const DIGITS: usize = 10;

const FOUND: usize = MARK.len() + DIGITS;

/// The part of a line that the search never skips.
///
/// The numbers of two lines are one line length apart. A skip ends this many bytes before the end of the next number.
/// That is more than the JSON around the filler text (84 bytes with mark and digits), so a server may shorten that
/// JSON without hiding a number from the search.
const LINE_REST: usize = 96;

/// Counts the lines of one flood that one reader received.
#[derive(Debug)]
pub(crate) struct LineCounter {
    finder: Finder<'static>,
    from: u64,
    count: u64,
    /// A lower bound for the distance from the end of one number to the next mark. Skipping it saves the search
    /// through the filler text, which is most of the stream.
    jump: usize,
    /// The part of the current jump that has not arrived yet.
    skip: usize,
    /// The last bytes of the previous read, in which a mark or number may have been cut off. At most `FOUND - 1`
    /// bytes stay here between two reads.
    carry: Vec<u8>,
    next: u64,
    received: u64,
    disordered: u64,
}

impl LineCounter {
    /// Expects `count` lines of `bytes` bytes each, numbered from `from`.
    pub(crate) fn new(from: u64, count: u64, bytes: usize) -> Self {
        Self {
            finder: Finder::new(MARK),
            from,
            count,
            jump: bytes.saturating_sub(LINE_REST),
            skip: 0,
            carry: Vec::with_capacity(2 * FOUND),
            next: from,
            received: 0,
            disordered: 0,
        }
    }

    /// The number of lines that arrived in order, possibly with gaps.
    pub(crate) fn received(&self) -> u64 {
        self.received
    }

    /// The number of lines that arrived twice, or after a line with a higher number.
    pub(crate) fn disordered(&self) -> u64 {
        self.disordered
    }

    /// Whether the last line has arrived.
    pub(crate) fn is_complete(&self) -> bool {
        self.next == self.from + self.count
    }

    /// Counts the numbers in the next bytes of the stream.
    pub(crate) fn feed(&mut self, mut data: &[u8]) {
        loop {
            let skipped = self.skip.min(data.len());
            self.skip -= skipped;
            data = &data[skipped..];
            if data.is_empty() {
                return;
            }
            if !self.carry.is_empty() {
                let before = self.carry.len();
                self.carry.extend_from_slice(&data[..data.len().min(FOUND)]);
                match self.find_number(&self.carry) {
                    Some((number, end)) => {
                        data = &data[end - before..];
                        self.count_number(number);
                        continue;
                    }
                    // All of `data` is in the carry now and does not complete a number: wait for more bytes.
                    None if self.carry.len() - before == data.len() => {
                        let useless = self.carry.len().saturating_sub(FOUND - 1);
                        self.carry.drain(..useless);
                        return;
                    }
                    None => self.carry.clear(),
                }
            }
            match self.find_number(data) {
                Some((number, end)) => {
                    data = &data[end..];
                    self.count_number(number);
                }
                None => {
                    self.carry.extend_from_slice(&data[data.len().saturating_sub(FOUND - 1)..]);
                    return;
                }
            }
        }
    }

    /// Returns the first complete number in `data` and the position of its end.
    fn find_number(&self, data: &[u8]) -> Option<(u64, usize)> {
        let at = self.finder.find(data)?;
        let digits = data.get(at + MARK.len()..at + FOUND)?;
        let number = digits.iter().fold(0, |number, digit| number * 10 + u64::from(digit.wrapping_sub(b'0')));
        Some((number, at + FOUND))
    }

    fn count_number(&mut self, number: u64) {
        self.carry.clear();
        self.skip = self.jump;
        if number >= self.from + self.count || number < self.from {
            return;
        }
        if number < self.next {
            self.disordered += 1;
        } else {
            self.received += 1;
            self.next = number + 1;
        }
    }
}

/// Overwrites the first [`DIGITS`] bytes of `place` with `number`.
pub(crate) fn write_number(place: &mut [u8], mut number: u64) {
    for digit in place[..DIGITS].iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stub_agent::Flood;

    fn flood(count: u64, bytes: usize) -> Vec<u8> {
        let mut written = Vec::new();
        Flood { from: 0, count, bytes, per_second: 0 }.write(&mut written).unwrap();
        written
    }

    #[test]
    fn every_line_is_counted_whatever_the_pieces() {
        for bytes in [120, 200, 1_000] {
            let written = flood(50, bytes);
            for piece in 1..300 {
                let mut counter = LineCounter::new(0, 50, bytes);
                written.chunks(piece).for_each(|piece| counter.feed(piece));
                assert_eq!(
                    (counter.received(), counter.disordered(), counter.is_complete()),
                    (50, 0, true),
                    "{piece}"
                );
            }
        }
    }

    #[test]
    fn missing_lines_are_not_counted() {
        let written = flood(50, 200);
        let mut counter = LineCounter::new(0, 50, 200);
        for (_, line) in written.chunks(200).enumerate().filter(|(index, _)| index % 5 != 0) {
            counter.feed(line);
        }
        assert_eq!(counter.received(), 40);
        counter.feed(&written[..200]);
        assert_eq!(counter.disordered(), 1);
    }
}
