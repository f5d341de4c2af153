#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Folds the text of perf script, where stackcollapse-perf.pl is not installed: the same rules for what a stack is, and less of what that
# tidies, so it takes less time.
use strict;
use warnings;

my (%sums, @frames, $comm, $period, $only);
while (my $line = <STDIN>) {
	if ($line eq "\n") {
		$sums{join(';', $comm, reverse @frames)} += $period if defined $comm;
		@frames = ();
		undef $comm;
	} elsif ($line =~ /^\s+[0-9a-f]+ (.*) \((.*)\)$/) {
		my ($name, $object) = ($1, $2);
		$name =~ s/\+0x[0-9a-f]+$//;
		$name = '[' . ($object =~ s{.*/}{}r) . ']' if $name eq '[unknown]' && $object ne '[unknown]';
		$name =~ s/\((?!anonymous namespace\)).*//;
		push @frames, $name =~ tr/;/:/r;
	} elsif ($line =~ /^(\S.*?)\s+-?\d+(?:\/-?\d+)? .*?(?:(\d+) )?(\S+):\s*$/) {
		$only //= $3;
		($comm, $period) = $3 eq $only ? ($1 =~ tr/ /_/r, $2 // 1) : ();
	}
}
print "$_ $sums{$_}\n" for sort keys %sums;
