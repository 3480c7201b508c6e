// Obeys the commands of the harness.

package protocol

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
)

// Obey answers commands, one a line, until there are no more: then the peer is to stop.
func (r *Recorder) Obey(commands io.Reader) {
	lines := bufio.NewScanner(commands)
	for lines.Scan() {
		if problem := r.obey(lines.Text()); problem != nil {
			fmt.Fprintln(os.Stderr, problem)
		}
	}
}

func (r *Recorder) obey(line string) error {
	name, arguments, _ := strings.Cut(line, " ")
	switch name {
	case "expect":
		var objects, revision int32
		if _, err := fmt.Sscan(arguments, &objects, &revision); err != nil {
			return fmt.Errorf("command %q must be expect N R: %w", line, err)
		}
		r.expect(objects, revision)
	case "totals":
		r.printTotals()
	case "latencies":
		r.printLatencies()
	default:
		return fmt.Errorf("command %q is unknown", line)
	}
	return nil
}
